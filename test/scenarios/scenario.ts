import type { TestPlane } from '../planes/plane.ts';
import { Stage } from './stage.ts';

/** A story with an end that is asserted; runs on any plane. */
export interface Scenario {
  /** What happens, as a sentence without a full stop. */
  readonly title: string;
  /** Rejects with what was not as expected. */
  readonly run: (plane: TestPlane) => Promise<void>;
}

/**
 * Sets up a stage, plays `act` on it, waits until the scheduler has nothing left to do, then asks `then` (for what must not
 * have happened) and asserts what holds in every scenario.
 */
export function scenario(title: string, act: (stage: Stage) => Promise<void | (() => void)>): Scenario {
  return {
    title,
    run: async (plane) => {
      const stage = await Stage.open(plane);
      try {
        const verify = await act(stage);
        await stage.settle();
        verify?.();
        const problems = stage.problems();
        if (problems.length > 0) throw new Error(problems.join('\n'));
      } catch (error) {
        // What went wrong first is what the reader needs.
        await stage.close().catch(() => undefined);
        throw error;
      }
      await stage.close();
    },
  };
}
