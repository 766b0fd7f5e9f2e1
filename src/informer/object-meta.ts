/** The part of an object that tells it from others and from its own past. */
export interface ObjectMeta {
  /** `namespace/name`, or `name` for cluster-scoped objects: unique at one time. */
  readonly key: string;
  /** Unique for ever. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Reads it from raw JSON; throws an Error naming the field that is missing or has another type. */
export function readObjectMeta(raw: unknown): ObjectMeta {
  const metadata = (raw as { metadata?: Partial<Record<string, unknown>> } | null | undefined)?.metadata;
  if (typeof metadata !== 'object' || metadata === null) throw new Error('metadata is missing');
  const { namespace, name, uid, resourceVersion } = metadata;
  if (typeof name !== 'string' || name === '') throw new Error('metadata.name is missing');
  if (typeof uid !== 'string' || uid === '') throw new Error('metadata.uid is missing');
  if (typeof resourceVersion !== 'string') throw new Error('metadata.resourceVersion is missing');
  if (namespace !== undefined && typeof namespace !== 'string') throw new Error('metadata.namespace is no string');
  return { key: objectKey(namespace, name), uid, resourceVersion };
}

/** The key under which a store holds an object. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
