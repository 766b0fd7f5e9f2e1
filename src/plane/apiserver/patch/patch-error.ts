/**
 * The reason that a patch could not be applied.
 * - malformed: the patch does not follow the rules of its format (400).
 * - tooLarge: the patch has too many operations (413).
 * - testFailed: a `test` operation of a JSON patch failed (422).
 * - unprocessable: the patch is well-formed, but does not fit this document (422).
 */
export type PatchErrorKind = 'malformed' | 'tooLarge' | 'testFailed' | 'unprocessable';

export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly kind: PatchErrorKind;

  constructor(kind: PatchErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
