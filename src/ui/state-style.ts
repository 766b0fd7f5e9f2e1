import type { TimelineState } from '../api/timeline/timeline-state.ts';

/**
 * How a bar is filled. Patterns tell states apart without colors.
 * - `dots`, `diagonal`: a pattern on a pale bar. `light`, `solid`: plain. `narrow`: not as high. `outline`: only a border. `cross`: crossed lines.
 */
export type Fill = 'dots' | 'light' | 'narrow' | 'diagonal' | 'solid' | 'stripes' | 'outline' | 'cross' | 'question';

/** How a state is drawn and named. */
export interface StateStyle {
  readonly letter: string;
  readonly fill: Fill;
  readonly name: string;
  /** Lanes with a lower rank are above others. */
  readonly rank: number;
}

export const stateStyles: Readonly<Record<TimelineState, StateStyle>> = {
  Partial: { letter: '½', fill: 'diagonal', name: 'partially bound', rank: 0 },
  Degraded: { letter: 'D', fill: 'stripes', name: 'degraded', rank: 1 },
  Waiting: { letter: 'w', fill: 'light', name: 'waiting', rank: 2 },
  NotReady: { letter: 'm', fill: 'dots', name: 'not ready', rank: 3 },
  Unknown: { letter: '?', fill: 'question', name: 'unknown', rank: 4 },
  Starting: { letter: 'P', fill: 'narrow', name: 'planned', rank: 5 },
  Running: { letter: 'R', fill: 'solid', name: 'running', rank: 6 },
  Failed: { letter: 'X', fill: 'cross', name: 'failed', rank: 7 },
  Finished: { letter: 'F', fill: 'outline', name: 'finished', rank: 8 },
  Gone: { letter: '', fill: 'outline', name: 'gone', rank: 9 },
};
