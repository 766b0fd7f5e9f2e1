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
  /** Number of seeds, from 1, within which the checkers must catch it. */
  readonly within: number;
}
