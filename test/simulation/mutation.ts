/** A deliberate defect: an exact piece of a source, and what stands in its place. */
export interface Mutation {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** More of the same defect, in the same file or in others. */
  readonly and?: readonly Pick<Mutation, 'file' | 'find' | 'replace'>[];
  /** What it is that goes wrong. */
  readonly why: string;
  /** It must be caught within so many seeds, from 1. */
  readonly within: number;
}
