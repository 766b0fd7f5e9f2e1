/** An invalid object from the API. The message names the object, the field path and the expected value. */
export class MalformedObjectError extends Error {
  override readonly name = 'MalformedObjectError';
  /** For example PodGroup. */
  readonly kind: string;
  /** namespace/name, without parts that the object lacks. */
  readonly key: string;
  /** For example spec.minMember. */
  readonly path: string;

  constructor(kind: string, key: string, path: string, problem: string, options?: ErrorOptions) {
    super(`${kind}${key === '' ? '' : ` ${key}`}: ${path} ${problem}`, options);
    this.kind = kind;
    this.key = key;
    this.path = path;
  }
}
