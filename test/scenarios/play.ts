import { it } from 'vitest';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { OpenPlane, TestPlane } from '../planes/plane.ts';
import { caseOf } from './case-problems.ts';
import type { Scenario } from './scenario.ts';

/** Scenario id -> scenario; the id is that of a listed case if there is one. */
export type Scenarios = Readonly<Record<string, Scenario>>;

/** Defines a test for each scenario, on a separate plane; the test name of a listed case begins with its id. */
export function play(scenarios: Scenarios, open: OpenPlane = openEmbeddedPlane): void {
  for (const [id, scenario] of Object.entries(scenarios)) {
    // The scenario contains the assertions: it rejects when one fails.
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
 * Defines a test for each scenario, one after another on one running plane. The test name of a listed case begins with the name of the plane,
 * because the case belongs to the embedded plane only.
 */
export function playOn(planeName: string, plane: () => TestPlane, scenarios: Scenarios): void {
  for (const [id, scenario] of Object.entries(scenarios)) {
    const name = nameOf(id, scenario);
    it(caseOf(name) === undefined ? name : `${planeName}: ${name}`, () => scenario.run(plane()));
  }
}

function nameOf(id: string, { title }: Scenario): string {
  return caseOf(`${id} `) === undefined ? title : `${id} ${title}`;
}
