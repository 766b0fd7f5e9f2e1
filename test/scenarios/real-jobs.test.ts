import { afterAll, beforeAll, describe } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { jobs } from './jobs.ts';
import { playOn } from './play.ts';

const programs = await provideForSuite('Jobs', ['etcd', 'kube-apiserver', 'kube-controller-manager']);

describe.skipIf(programs.state === 'missing')('Jobs with a real kube-controller-manager', () => {
  let plane: RealPlane;

  beforeAll(async () => {
    if (programs.state === 'missing') return;
    plane = await openRealPlane({ paths: programs.paths, controllerManager: true });
  });

  afterAll(async () => {
    await plane?.stop();
  });

  playOn('real', () => plane, jobs);
});
