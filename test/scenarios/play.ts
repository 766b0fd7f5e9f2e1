import { it } from 'vitest';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { Scenario } from './scenario.ts';

/** A test for each scenario, on a plane of its own; the name begins with the id. */
export function play(scenarios: Readonly<Record<string, Scenario>>): void {
  for (const [id, { title, run }] of Object.entries(scenarios)) {
    // The scenario's own expectations are the assertions: it rejects when one fails.
    it(`${id} ${title}`, async () => {
      const plane = await openEmbeddedPlane();
      try {
        await run(plane);
      } finally {
        await plane.stop();
      }
    });
  }
}
