/**
 * Why a patch was not applied.
 * - malformed: the patch is not a patch at all, or breaks the rules of its own format (400).
 * - testFailed: a `test` operation of a JSON patch did not hold (422).
 * - unprocessable: the patch is well formed, but this document cannot take it (422).
 */
export type PatchErrorKind = 'malformed' | 'testFailed' | 'unprocessable';

export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly kind: PatchErrorKind;

  constructor(kind: PatchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
