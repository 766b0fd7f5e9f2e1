import { safeText } from '../../base/safe-text.ts';

/**
 * What the shell does with the candidates, in the protocol of Cobra, which kubectl reads:
 * - `files`: it offers file names, because there are no candidates of ours.
 * - `noFiles`: it offers only the candidates.
 */
export const directives = { files: 0, noFiles: 4 } as const;

/** Candidates for the last word of a command line. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: (typeof directives)[keyof typeof directives];
}

export interface Candidate {
  readonly text: string;
  readonly description?: string;
}

/** Returns the lines that Cobra's shell functions read: the candidates, then the directive. Names are made safe to show. */
export function completionLines({ candidates, directive }: Completion): readonly string[] {
  const lines = candidates.map(({ text, description }) => {
    const shown = safeText(text);
    return description === undefined ? shown : `${shown}	${description}`;
  });
  return [...lines, `:${directive}`];
}
