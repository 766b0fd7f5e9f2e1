import type { TestPlane } from '../planes/plane.ts';
import { Stage } from './stage.ts';

/** A sequence of events with an asserted end; runs on any plane. */
export interface Scenario {
  /** What happens, as a sentence without a full stop. */
  readonly title: string;
  /** Rejects with what was not as expected. */
  readonly run: (plane: TestPlane) => Promise<void>;
}

/**
 * Opens a stage and runs `act` on it. Waits until the scheduler has nothing left to do. Then runs the returned function, which checks what
 * must not have happened, and asserts the rules of every scenario.
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
        // Report the first error, not one of closing the stage.
        await stage.close().catch(() => undefined);
        throw error;
      }
      await stage.close();
    },
  };
}
