import { describe, expect, it } from 'vitest';
import { drawScenario } from './draw-scenario.ts';
import { formatCase, parseCase } from './exhaustive.ts';
import { formatKept, keep, parseKept, wholeOf } from './shrink.ts';

describe('A subset of a scenario', () => {
  const scenario = drawScenario(11);

  it('has a name made of its steps and faults, and that name restores it', () => {
    const kept = { steps: [0, 1], faults: scenario.faults.length > 0 ? [0] : [] };
    expect(parseKept(formatKept(kept), scenario)).toEqual(kept);
    expect(keep(scenario, kept).steps).toEqual(scenario.steps.slice(0, 2));
    expect(keep(scenario, wholeOf(scenario))).toEqual(scenario);
  });

  it('is rejected with the valid names when it names an unknown part', () => {
    expect(() => parseKept('s0,x1', scenario)).toThrow('"x1" names no part of the scenario: it has steps s0 to');
    expect(() => parseKept('s999', scenario)).toThrow(RangeError);
  });
});

describe('A case of the exhaustive runs', () => {
  it('is restored from its name', () => {
    const name = '2on3 scheduler:any4=lost-answer controller:pods2=cut';
    const { faults, nodes } = parseCase(name);
    expect(nodes).toHaveLength(3);
    expect(formatCase({ members: 2, nodes: 3 }, faults)).toBe(name);
  });

  it('is rejected with the valid names when it is unknown', () => {
    expect(() => parseCase('4on4')).toThrow('one of 2on2, 2on3, 3on2, 3on3');
    expect(() => parseCase('2on2 scheduler:any4=cut')).toThrow('such as scheduler:any4=lost-answer');
  });
});
