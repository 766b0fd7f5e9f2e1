import process from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { planeForSuite } from '../../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { serverCases } from './cases.ts';
import { caseNamespace, readGolden } from './golden-answers.ts';
import { playCase } from './play.ts';

const programs = await provideForSuite('conformance of the recorded responses', ['etcd', 'kube-apiserver']);

describe.skipIf(programs.state === 'missing').each(serverCases)(
  'Real kube-apiserver with $featureGates',
  ({ featureGates, groups }) => {
    const plane = planeForSuite(programs, { featureGates });

    beforeAll(async () => {
      process.stderr.write(`\nconformance on a real API server: Kubernetes ${plane().version}\n`);
    });

    describe.each(Object.entries(groups))('still responds as recorded: %s', (group, cases) => {
      it.each(Object.entries(cases).map(([name, run], index) => ({ name, run, index })))(
        '$name',
        async ({ name, run, index }) => {
          const golden = await readGolden(group);
          expect(golden.version).toBe(plane().version);
          expect(await playCase(plane(), caseNamespace(group, index), run)).toEqual(golden.cases[name]);
        },
      );
    });
  },
);
