/** A deliberate defect: an exact piece of source and its replacement. */
export interface Mutation {
  readonly name: string;
  /** Path below src/. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** More replacements for the same defect, in the same file or in others. */
  readonly and?: readonly Pick<Mutation, 'file' | 'find' | 'replace'>[];
  /** What goes wrong. */
  readonly why: string;
  /** Number of seeds, from 1, within which the checkers must catch it. Absent: `test` catches it. */
  readonly within?: number;
  /** A test that must fail: its file and its name, as Vitest prints it. For defects that break no guarantee that the checkers know. */
  readonly test?: { readonly file: string; readonly name: string };
}
