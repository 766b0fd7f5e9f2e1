import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../planes/embedded.ts';
import type { TestPlane } from '../../planes/plane.ts';
import { serverCases } from './cases.ts';
import { differences, unstated } from './differences.ts';
import { caseNamespace, readGolden } from './golden-answers.ts';
import { limits } from './limits.ts';
import { playCase } from './play.ts';

describe.each(serverCases)('Embedded plane like a server with $featureGates', ({ options, groups }) => {
  let plane: TestPlane;

  beforeAll(async () => {
    plane = await openEmbeddedPlane(options);
  });

  afterAll(async () => {
    await plane?.stop();
  });

  describe.each(Object.entries(groups))('responds like a real server: %s', (group, cases) => {
    it.each(Object.entries(cases).map(([name, run], index) => ({ name, run, index })))(
      '$name',
      async ({ name, run, index }) => {
        const golden = await readGolden(group);
        const answers = await playCase(plane, caseNamespace(group, index), run);
        const stated = limits.filter((limit) => limit.case === `${group}: ${name}`);
        expect(unstated(differences(golden.cases[name] ?? [], answers), stated)).toEqual([]);
      },
    );

    it('has golden responses for exactly these cases', async () => {
      expect(Object.keys((await readGolden(group)).cases)).toEqual(Object.keys(cases));
    });
  });
});

describe('Stated limits', () => {
  it('refer to cases that exist', () => {
    const names = new Set(
      serverCases
        .flatMap(({ groups }) => Object.entries(groups))
        .flatMap(([group, cases]) => Object.keys(cases).map((name) => `${group}: ${name}`)),
    );
    expect(limits.filter((limit) => !names.has(limit.case))).toEqual([]);
  });
});
