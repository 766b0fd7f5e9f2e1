import type * as fc from 'fast-check';
import type { Answered, Disagreement } from './disagreement.ts';
import type { Question } from './question.ts';

/** What Tutti does otherwise than kube-scheduler on purpose. Each is told in docs/fidelity.md under its name. */
export interface DeliberateDifference {
  readonly name: string;
  /** Whether it is why the answers differ there. */
  explains(disagreement: Disagreement, answered: Answered): boolean;
}

/** How one plugin is compared with kube-scheduler's of the same name. */
export interface PluginComparison {
  readonly plugin: string;
  /** Questions that between them use every field that the plugin reads. */
  readonly questions: fc.Arbitrary<Question>;
  /** Absent: none. */
  readonly differences?: readonly DeliberateDifference[];
}
