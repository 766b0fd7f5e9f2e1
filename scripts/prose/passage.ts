/** The areas that the prose check reports on, each with limits of its own. */
export const areas = ['docs', 'changelog', 'chart', 'messages', 'comments', 'tests'] as const;
export type Area = (typeof areas)[number];

/** A piece of running text, such as a paragraph, a table cell, a comment or a string literal. */
export interface Passage {
  readonly area: Area;
  /** From the top of the repository. */
  readonly path: string;
  /** Of its first character; the first line of a file is 1. */
  readonly line: number;
  /** Plain text: code spans are the word `code`, links are their text. */
  readonly text: string;
}
