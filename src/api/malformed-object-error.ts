/** An object from the API that cannot be used. The message names the object, the field path and what would be right. */
export class MalformedObjectError extends Error {
  override readonly name = 'MalformedObjectError';
  /** For example PodGroup. */
  readonly kind: string;
  /** namespace/name as far as the object tells; empty when it does not. */
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
