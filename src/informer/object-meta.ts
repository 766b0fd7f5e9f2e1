/** The metadata that identifies an object and its version. */
export interface ObjectMeta {
  /** `namespace/name`, or `name` for cluster-scoped objects: unique at one time. */
  readonly key: string;
  /** Never reused. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Reads the metadata from raw JSON. Throws an Error that names the missing or invalid field. */
export function readObjectMeta(raw: unknown): ObjectMeta {
  const metadata = (raw as { metadata?: Partial<Record<string, unknown>> } | null | undefined)?.metadata;
  if (typeof metadata !== 'object' || metadata === null) throw new Error('metadata is missing');
  const { namespace, name, uid, resourceVersion } = metadata;
  if (typeof name !== 'string' || name === '') throw new Error('metadata.name is missing');
  if (typeof uid !== 'string' || uid === '') throw new Error('metadata.uid is missing');
  if (typeof resourceVersion !== 'string') throw new Error('metadata.resourceVersion is missing');
  if (namespace !== undefined && typeof namespace !== 'string') throw new Error('metadata.namespace is not a string');
  return { key: objectKey(namespace, name), uid, resourceVersion };
}

/** Returns the key of an object in a store. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
