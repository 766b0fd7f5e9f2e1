import type * as fc from 'fast-check';
import type { Answered, Disagreement } from './disagreement.ts';
import type { Question } from './question.ts';

/** A deliberate difference between Tutti and kube-scheduler, documented in docs/fidelity.md under its name. */
export interface DeliberateDifference {
  readonly name: string;
  /** Reports whether it causes this disagreement. */
  explains(disagreement: Disagreement, answered: Answered): boolean;
}

/** How one plugin is compared with kube-scheduler's plugin of the same name. */
export interface PluginComparison {
  readonly plugin: string;
  /** Questions that together use every field that the plugin reads. */
  readonly questions: fc.Arbitrary<Question>;
  /** Absent: none. */
  readonly differences?: readonly DeliberateDifference[];
}
