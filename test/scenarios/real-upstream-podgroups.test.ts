import { describe, it } from 'vitest';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { podGroupPreemptionTests } from './upstream-podgroup-preemption.ts';
import { podGroupQueueingTests } from './upstream-podgroup-queueing.ts';
import { startTutti, upstreamScenario } from './upstream-podgroup-stage.ts';
import { podGroupTests } from './upstream-podgroups.ts';

const programs = await provideForSuite("Kubernetes' integration tests of PodGroups", ['etcd', 'kube-apiserver']);
const tests = [...podGroupTests, ...podGroupQueueingTests, ...podGroupPreemptionTests];

describe.skipIf(programs.state === 'missing')("Kubernetes' integration tests of PodGroups, with Tutti", () => {
  const plane = planeForSuite(programs, { featureGates: ['GenericWorkload'] });

  for (const test of tests) {
    // `npm run upstream-podgroups` plays those that need other gates.
    for (const each of test.cases.filter(({ gates = [] }) => gates.length === 0)) {
      it(`${test.test}: ${each.name}`, () =>
        upstreamScenario(test, { ...each, ...each.inTutti }, startTutti).run(plane()));
    }
  }
});
