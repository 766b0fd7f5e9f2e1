import { it } from 'vitest';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { OpenPlane } from '../planes/plane.ts';
import { caseOf } from './case-problems.ts';
import type { Scenario } from './scenario.ts';

/** A test for each scenario, on a plane of its own; the name of one that is a listed case begins with its id. */
export function play(scenarios: Readonly<Record<string, Scenario>>, open: OpenPlane = openEmbeddedPlane): void {
  for (const [id, { title, run }] of Object.entries(scenarios)) {
    // The scenario's own expectations are the assertions: it rejects when one fails.
    it(caseOf(`${id} `) === undefined ? title : `${id} ${title}`, async () => {
      const plane = await open();
      try {
        await run(plane);
      } finally {
        await plane.stop();
      }
    });
  }
}
