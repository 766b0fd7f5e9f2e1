import { createHash } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import { objectAt } from '../kinds/access.ts';
import type { ResourceRegistry } from '../kinds/resource-registry.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import { modelSchema } from '../schema/model-schema.ts';

/** Returns the response to `GET /openapi/v3`: the URL of the document of each group and version. It changes with the document. */
export function openApiIndex(registry: ResourceRegistry): JsonObject {
  const urls: JsonObject = {};
  for (const [path, types] of documents(registry)) {
    const hash = createHash('sha256')
      .update(JSON.stringify(documentOf(types)))
      .digest('hex')
      .toUpperCase();
    urls[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths: urls };
}

/**
 * Returns the OpenAPI v3 document at a path such as "apis/scheduling.k8s.io/v1". Undefined if the group or version does not exist. kubectl
 * reads from it whether the server validates fields, and the schemas of custom resources.
 */
export function openApiDocument(registry: ResourceRegistry, path: string): JsonObject | undefined {
  const types = documents(registry).get(path);
  return types && documentOf(types);
}

/** Returns path of a document -> the resources that it describes. */
function documents(registry: ResourceRegistry): ReadonlyMap<string, readonly ResourceType[]> {
  return new Map(
    registry.groups().flatMap(({ name, versions }) => {
      const prefix = name === '' ? 'api' : `apis/${name}`;
      return versions.map(({ version, resources }) => [`${prefix}/${version}`, resources] as const);
    }),
  );
}

function documentOf(types: readonly ResourceType[]): JsonObject {
  const schemas: JsonObject = {};
  const paths: JsonObject = {};
  for (const type of types) {
    addSchema(schemas, type);
    addPaths(paths, type);
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.34.0' }, paths, components: { schemas } };
}

function groupVersionKind(type: ResourceType): JsonObject {
  return { group: type.group, kind: type.kind, version: type.version };
}

function schemaName(type: ResourceType): string {
  return `${type.group}.${type.version}.${type.kind}`;
}

/**
 * Adds the schema of a kind that kubectl may not know, for `kubectl explain`: a custom resource, or a built-in kind whose version is not v1.
 * kubectl has the schemas of the others that it needs to merge patches.
 */
function addSchema(schemas: JsonObject, type: ResourceType): void {
  const { content } = type;
  if (content.type === 'model' && type.version === 'v1') return;
  const schema = content.type === 'model' ? modelSchema(content.model) : content.schema;
  const text = { type: 'string' };
  schemas[schemaName(type)] = {
    ...schema,
    properties: { ...objectAt(schema, 'properties'), apiVersion: text, kind: text, metadata: { type: 'object' } },
    'x-kubernetes-group-version-kind': [groupVersionKind(type)],
  };
}

/** Adds the operations that kubectl looks for: any one at a path, for the kind; and PATCH, for the parameters. */
function addPaths(paths: JsonObject, type: ResourceType): void {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const collection = type.namespaced ? `${root}/namespaces/{namespace}/${type.plural}` : `${root}/${type.plural}`;
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  paths[collection] = { get: operation(type, 'list') };
  paths[`${collection}/{name}`] = { patch: { ...operation(type, 'patch'), parameters } };
}

function operation(type: ResourceType, action: string): JsonObject {
  return { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': groupVersionKind(type) };
}
