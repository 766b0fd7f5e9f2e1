import type { Area } from './passage.ts';

export interface Limits {
  /** Passive verbs per 1,000 words. */
  readonly passive: number;
  /** Percentage of sentences over 35 words. */
  readonly long: number;
}

/** area -> its limits. Avoided words must not appear in any area. */
export const limits: Readonly<Partial<Record<Area, Limits>>> = { docs: { passive: 13, long: 4 } };
