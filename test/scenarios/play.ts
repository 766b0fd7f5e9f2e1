import { it } from 'vitest';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { OpenPlane, TestPlane } from '../planes/plane.ts';
import { caseOf } from './case-problems.ts';
import type { Scenario } from './scenario.ts';

/** Scenarios by id, which is that of a case where there is one. */
export type Scenarios = Readonly<Record<string, Scenario>>;

/** A test for each scenario, on a plane of its own; the name of one that is a listed case begins with its id. */
export function play(scenarios: Scenarios, open: OpenPlane = openEmbeddedPlane): void {
  for (const [id, scenario] of Object.entries(scenarios)) {
    // The scenario's own expectations are the assertions: it rejects when one fails.
    it(nameOf(id, scenario), async () => {
      const plane = await open();
      try {
        await scenario.run(plane);
      } finally {
        await plane.stop();
      }
    });
  }
}

/**
 * A test for each scenario, one after another on one plane that runs already. The name of each begins with that of the plane:
 * a listed case is the embedded plane's, once.
 */
export function playOn(planeName: string, plane: () => TestPlane, scenarios: Scenarios): void {
  for (const [id, scenario] of Object.entries(scenarios)) {
    it(`${planeName}: ${nameOf(id, scenario)}`, () => scenario.run(plane()));
  }
}

function nameOf(id: string, { title }: Scenario): string {
  return caseOf(`${id} `) === undefined ? title : `${id} ${title}`;
}
