/** What a test expects of a pod is not so; the message says how it is. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
}
