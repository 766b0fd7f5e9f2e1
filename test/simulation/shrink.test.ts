import { describe, expect, it } from 'vitest';
import { drawScenario } from './draw-scenario.ts';
import { formatCase, parseCase } from './exhaustive.ts';
import { formatKept, keep, parseKept, wholeOf } from './shrink.ts';

describe('a part of a scenario', () => {
  const scenario = drawScenario(11);

  it('is named by the steps and faults that are left, and is found again by that name', () => {
    const kept = { steps: [0, 1], faults: scenario.faults.length > 0 ? [0] : [] };
    expect(parseKept(formatKept(kept), scenario)).toEqual(kept);
    expect(keep(scenario, kept).steps).toEqual(scenario.steps.slice(0, 2));
    expect(keep(scenario, wholeOf(scenario))).toEqual(scenario);
  });

  it('is rejected with what there is when it names something else', () => {
    expect(() => parseKept('s0,x1', scenario)).toThrow('"x1" names no part of the scenario: it has steps s0 to');
    expect(() => parseKept('s999', scenario)).toThrow(RangeError);
  });
});

describe('a case of the exhaustive runs', () => {
  it('is found again by its name', () => {
    const name = '2on3 scheduler:any4=lost-answer controller:pods2=cut';
    const { faults, nodes } = parseCase(name);
    expect(nodes).toHaveLength(3);
    expect(formatCase({ members: 2, nodes: 3 }, faults)).toBe(name);
  });

  it('is rejected with what there is when it is none', () => {
    expect(() => parseCase('4on4')).toThrow('one of 2on2, 2on3, 3on2, 3on3');
    expect(() => parseCase('2on2 scheduler:any4=cut')).toThrow('such as scheduler:any4=lost-answer');
  });
});
