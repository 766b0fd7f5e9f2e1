import { podGroupDefinition } from './pod-group-schema.ts';
import { podGroupResource } from './pod-group.ts';

/** A schema of an OpenAPI v3 document, as far as it is read. */
interface ServedSchema {
  readonly properties?: Readonly<Record<string, ServedSchema>>;
  readonly additionalProperties?: unknown;
  readonly items?: ServedSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind?: string; readonly version?: string }[];
}

/** The document at `servedSchemaPath`, as far as it is read. */
export interface ServedDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, ServedSchema>> };
}

/** Where an API server tells the schema of PodGroups to everybody who may read what it serves. */
export const servedSchemaPath = `/openapi/v3/apis/${podGroupResource.apiVersion}`;

/** Not written, so it does not matter whether it is kept. */
const unwritten = 'status.scheduleStartTime';

/**
 * What the definition of PodGroup that an API server has drops of the status that Tutti writes, as field paths; empty: nothing. An
 * API server drops fields that its definition does not name, without a word. Undefined when the document tells of no PodGroup.
 */
export function droppedStatusFields(document: ServedDocument): readonly string[] | undefined {
  const served = Object.values(document.components?.schemas ?? {}).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      ({ kind, version }) => kind === podGroupResource.kind && version === podGroupResource.version,
    ),
  );
  if (served === undefined) return undefined;
  const [{ schema }] = podGroupDefinition.spec.versions;
  const wanted = schema.openAPIV3Schema.properties.status;
  return [...missing(wanted, served.properties?.status, 'status')].filter((path) => path !== unwritten);
}

/** Paths of the fields of `wanted` that `served` does not keep. */
function* missing(wanted: ServedSchema, served: ServedSchema | undefined, path: string): Iterable<string> {
  if (served === undefined) {
    yield path;
    return;
  }
  if (served['x-kubernetes-preserve-unknown-fields'] === true) return;
  for (const [name, field] of Object.entries(wanted.properties ?? {})) {
    yield* missing(field, served.properties?.[name], `${path}.${name}`);
  }
  if (wanted.items !== undefined) yield* missing(wanted.items, served.items, `${path}[]`);
}
