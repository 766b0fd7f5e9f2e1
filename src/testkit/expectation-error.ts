/** A pod is not in the expected state. The message contains its actual state. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
}
