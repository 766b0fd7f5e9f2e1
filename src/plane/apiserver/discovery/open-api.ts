import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../json.ts';
import { objectAt } from '../kinds/access.ts';
import type { ResourceRegistry } from '../kinds/resource-registry.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { patchMediaTypes } from '../verbs/patch-media-types.ts';
import { addModelSchemas, schemaName, schemaReference } from './model-schemas.ts';

/**
 * The OpenAPI v3 documents, one for each group and version. Creates them on request, and again after a resource changes. kubectl uses
 * them to validate, explain and merge.
 */
export class OpenApiDocuments {
  readonly #registry: ResourceRegistry;
  /** path such as "apis/scheduling.k8s.io/v1" -> document text and its hash, as of #revision */
  readonly #documents = new Map<string, { readonly text: string; readonly hash: string }>();
  #revision = -1;

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** Returns the response to `GET /openapi/v3`: the URL of each document. A document's URL changes with its content. */
  index(): JsonObject {
    const paths: JsonObject = {};
    for (const group of this.#registry.groups()) {
      for (const { version } of group.versions) {
        const path = group.name === '' ? `api/${version}` : `apis/${group.name}/${version}`;
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#document(path)!.hash}` };
      }
    }
    return { paths };
  }

  /** Returns the text of one document. Undefined if the group or version does not exist. */
  document(path: string): string | undefined {
    return this.#document(path)?.text;
  }

  #document(path: string): { readonly text: string; readonly hash: string } | undefined {
    if (this.#revision !== this.#registry.revision) {
      this.#documents.clear();
      this.#revision = this.#registry.revision;
    }
    let document = this.#documents.get(path);
    if (document === undefined) {
      const types = this.#typesAt(path);
      if (types === undefined) return undefined;
      const text = JSON.stringify(openApiDocument(types));
      document = { text, hash: createHash('sha256').update(text).digest('hex').toUpperCase() };
      this.#documents.set(path, document);
    }
    return document;
  }

  #typesAt(path: string): readonly ResourceType[] | undefined {
    for (const group of this.#registry.groups()) {
      const prefix = group.name === '' ? 'api' : `apis/${group.name}`;
      for (const { version, resources } of group.versions) if (path === `${prefix}/${version}`) return resources;
    }
    return undefined;
  }
}

function openApiDocument(types: readonly ResourceType[]): JsonObject {
  const schemas: JsonObject = {};
  const paths: JsonObject = {};
  for (const type of types) {
    addTypeSchema(schemas, type);
    addPaths(paths, type);
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.34.0' }, paths, components: { schemas } };
}

function typeSchemaName(type: ResourceType): string {
  return type.content.type === 'model' ? schemaName(type.content.model) : `${type.group}.${type.version}.${type.kind}`;
}

function groupVersionKind(type: ResourceType): JsonObject {
  return { group: type.group, kind: type.kind, version: type.version };
}

function addTypeSchema(schemas: JsonObject, type: ResourceType): void {
  const name = typeSchemaName(type);
  if (type.content.type === 'model') {
    addModelSchemas(schemas, type.content.model);
    schemas[name] = { ...objectAt(schemas, name), 'x-kubernetes-group-version-kind': [groupVersionKind(type)] };
    return;
  }
  addModelSchemas(schemas, 'V1ObjectMeta');
  const { schema } = type.content;
  schemas[name] = {
    ...schema,
    properties: {
      ...objectAt(schema, 'properties'),
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [schemaReference('V1ObjectMeta')] },
    },
    'x-kubernetes-group-version-kind': [groupVersionKind(type)],
  };
}

const fieldValidation = queryParameter('fieldValidation', 'string');
const writeParameters = [queryParameter('dryRun', 'string'), queryParameter('fieldManager', 'string'), fieldValidation];

function queryParameter(name: string, type: string): JsonObject {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

function addPaths(paths: JsonObject, type: ResourceType): void {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const collection = type.namespaced ? `${root}/namespaces/{namespace}/${type.plural}` : `${root}/${type.plural}`;
  const scope = type.namespaced ? [pathParameter('namespace')] : [];
  paths[collection] = {
    parameters: scope,
    get: operation(type, 'list', []),
    post: operation(type, 'post', writeParameters, ['application/json']),
  };
  paths[`${collection}/{name}`] = {
    parameters: [...scope, pathParameter('name')],
    get: operation(type, 'get', []),
    put: operation(type, 'put', writeParameters, ['application/json']),
    patch: operation(type, 'patch', writeParameters, patchMediaTypes(type)),
    delete: operation(type, 'delete', []),
  };
}

function operation(
  type: ResourceType,
  action: string,
  parameters: readonly JsonObject[],
  bodyTypes: readonly string[] = [],
): JsonObject {
  const reference: JsonObject = { $ref: `#/components/schemas/${typeSchemaName(type)}` };
  const content = (mediaTypes: readonly string[]): JsonObject =>
    Object.fromEntries(mediaTypes.map((mediaType): [string, JsonValue] => [mediaType, { schema: reference }]));
  return {
    ...(parameters.length > 0 && { parameters: [...parameters] }),
    ...(bodyTypes.length > 0 && { requestBody: { content: content(bodyTypes) } }),
    responses: { '200': { description: 'OK', content: content(['application/json']) } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': groupVersionKind(type),
  };
}
