import { RE2JS, RE2JSException } from 're2js';
import type { StepLimit } from './step-limit.ts';

/** Steps to compile one character of a pattern whose repetitions are written out. */
const compileSteps = 25;
/** States of a pattern that read one character in one step. */
const statesPerStep = 8;

/**
 * The patterns of one schema. RE2 matches them, as in kube-apiserver: in time that grows with the length of the text, and without
 * lookaheads and backreferences.
 */
export class Patterns {
  /** pattern -> compiled pattern */
  readonly #compiled = new Map<string, RE2JS>();

  /** Returns why a pattern is invalid, or undefined if it is valid. Throws StepLimitError. */
  problemOf(pattern: string, steps: StepLimit): string | undefined {
    try {
      this.#compile(pattern, steps);
      return undefined;
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      return `must be a valid regular expression: ${error.message}`;
    }
  }

  /** Returns whether a text has a match of the pattern, which must be valid. Throws StepLimitError. */
  matches(pattern: string, text: string, steps: StepLimit): boolean {
    const compiled = this.#compile(pattern, steps);
    steps.count((compiled.programSize() * text.length) / statesPerStep);
    return compiled.test(text);
  }

  #compile(pattern: string, steps: StepLimit): RE2JS {
    const known = this.#compiled.get(pattern);
    if (known !== undefined) return known;
    steps.count(expandedLength(pattern) * compileSteps);
    const compiled = RE2JS.compile(pattern);
    this.#compiled.set(pattern, compiled);
    return compiled;
  }
}

/** Returns about how many characters a pattern has after its repetitions are written out, as RE2 does: `(ab){3}c` has 7. */
function expandedLength(pattern: string): number {
  /** Lengths of the open groups, outermost first. */
  const open = [0];
  let last = 0;
  for (const [token, low, high] of pattern.matchAll(/\\.|\{(\d+)(?:,(\d*))?\}|./gs)) {
    if (token === '(') {
      open.push(0);
      continue;
    }
    if (low !== undefined) last *= Math.max(Number(high === '' ? low : (high ?? low)), 1) - 1;
    else if (token === ')' && open.length > 1) last = open.pop()!;
    else last = 1;
    open[open.length - 1]! += last;
  }
  return open.reduce((sum, length) => sum + length, 0);
}
