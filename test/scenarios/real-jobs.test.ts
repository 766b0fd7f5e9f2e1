import { describe } from 'vitest';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { backfillJobs } from './backfill-jobs.ts';
import { jobs } from './jobs.ts';
import { nativeJobs } from './native-jobs.ts';
import { playOn } from './play.ts';

const programs = await provideForSuite('Jobs', ['etcd', 'kube-apiserver', 'kube-controller-manager']);

describe.skipIf(programs.state === 'missing')('Jobs with a real kube-controller-manager', () => {
  const plane = planeForSuite(programs, { controllerManager: true });

  playOn('real', plane, { ...jobs, ...backfillJobs });
});

describe.skipIf(programs.state === 'missing')('Jobs that create their PodGroups themselves', () => {
  const plane = planeForSuite(programs, {
    controllerManager: true,
    featureGates: ['GenericWorkload', 'WorkloadWithJob'],
  });

  playOn('real', plane, nativeJobs);
});
