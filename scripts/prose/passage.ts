/** Areas of prose. Each can have its own limits. */
export const areas = ['docs', 'changelog', 'chart', 'messages', 'comments', 'tests'] as const;
export type Area = (typeof areas)[number];

/** A piece of running text, such as a paragraph, a table cell, a comment or a string literal. */
export interface Passage {
  readonly area: Area;
  /** Path relative to the repository. */
  readonly path: string;
  /** Line of the first character, starting at 1. */
  readonly line: number;
  /** Plain text. The word `code` replaces code spans; links keep only their text. */
  readonly text: string;
}
