import type { Violation } from './checks/evidence.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

/** Indexes of the steps and faults of a scenario that are left. */
export interface Kept {
  readonly steps: readonly number[];
  readonly faults: readonly number[];
}

export function wholeOf({ steps, faults }: Scenario): Kept {
  return { steps: [...steps.keys()], faults: [...faults.keys()] };
}

export function keep(scenario: Scenario, { steps, faults }: Kept): Scenario {
  return { ...scenario, steps: steps.map((i) => scenario.steps[i]!), faults: faults.map((i) => scenario.faults[i]!) };
}

/** Formats it for the command line: `s0,s2,f1`. */
export function formatKept({ steps, faults }: Kept): string {
  return [...steps.map((i) => `s${i}`), ...faults.map((i) => `f${i}`)].join(',');
}

/** Parses the command-line format. Throws RangeError with the valid names. */
export function parseKept(text: string, scenario: Scenario): Kept {
  const steps: number[] = [];
  const faults: number[] = [];
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [, kind, digits] = /^([sf])(\d+)$/.exec(part) ?? [];
    const [list, of] = kind === 's' ? [steps, scenario.steps] : [faults, scenario.faults];
    const index = Number(digits);
    if (kind === undefined || index >= of.length) {
      throw new RangeError(
        `"${part}" names no part of the scenario: it has steps s0 to s${scenario.steps.length - 1}, and ${scenario.faults.length} faults from f0`,
      );
    }
    list.push(index);
  }
  return { steps, faults };
}

/** Removes steps and faults one at a time as long as the same invariant is still violated, until no more can be removed. */
export async function shrink(
  scenario: Scenario,
  { invariant }: Violation,
): Promise<{ readonly kept: Kept; readonly violation: Violation }> {
  const fails = async (kept: Kept): Promise<Violation | undefined> =>
    (await runScenario(keep(scenario, kept))).violations.find((violation) => violation.invariant === invariant);
  let kept = wholeOf(scenario);
  let violation = (await fails(kept))!;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const kind of ['faults', 'steps'] as const) {
      for (const index of kept[kind].toReversed()) {
        const fewer = { ...kept, [kind]: kept[kind].filter((i) => i !== index) };
        const still = await fails(fewer);
        if (still === undefined) continue;
        [kept, violation, isSmaller] = [fewer, still, true];
      }
    }
  }
  return { kept, violation };
}
