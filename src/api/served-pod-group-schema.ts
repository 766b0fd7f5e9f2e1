import { podGroupDefinition } from './pod-group-schema.ts';
import { podGroupResource } from './pod-group.ts';

/** The fields of an OpenAPI v3 schema that Tutti reads. */
interface ServedSchema {
  readonly properties?: Readonly<Record<string, ServedSchema>>;
  readonly additionalProperties?: unknown;
  readonly items?: ServedSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind?: string; readonly version?: string }[];
}

/** The fields of the document at `servedSchemaPath` that Tutti reads. */
export interface ServedDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, ServedSchema>> };
}

/** API path of the PodGroup schema. All clients with access to API discovery can read it. */
export const servedSchemaPath = `/openapi/v3/apis/${podGroupResource.apiVersion}`;

/** Tutti does not write this field, so the CRD may drop it. */
const unwritten = 'status.scheduleStartTime';

/**
 * Returns the paths of status fields that Tutti writes and the installed PodGroup CRD lacks. The API server drops such fields silently.
 * Returns undefined if the document contains no PodGroup.
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

/** Yields the paths of the fields of `wanted` that `served` drops. */
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
