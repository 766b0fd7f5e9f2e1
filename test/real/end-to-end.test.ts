import { afterAll, beforeAll, describe, it } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { besideWithRoom, besideWithoutRoom, refusedMember } from './beside-kube-scheduler.ts';
import { jobAndStatefulSet } from './controllers.ts';
import { killedAndRoomLost, killedInMidGang } from './crashes.ts';
import { fullCluster } from './crowds.ts';
import { apiServerAway, historyForgotten } from './outages.ts';
import { withoutWatchCache } from './without-watch-cache.ts';

const programs = await provideForSuite('Tutti end to end', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
]);

/** The stories assert, and reject when something is not as it should be. The planes take turns. */
describe.skipIf(programs.state === 'missing')('Tutti on a real API server', () => {
  describe('whose controllers make the pods and whose nodes run them', () => {
    const plane = openedFor((paths) => openRealPlane({ paths, controllerManager: true, kwok: true }));

    it('starts a Job whole, and then a StatefulSet that needs its room', () => jobAndStatefulSet(plane()), 60_000);

    it('goes on when the API server was away for 20 s', () => apiServerAway(plane()), 120_000);
  });

  describe('when the scheduler is killed in the middle of a gang', () => {
    const plane = openedFor((paths) => openRealPlane({ paths }));

    it.each([
      { bound: 0, isAnswered: true },
      { bound: 1, isAnswered: true },
      { bound: 2, isAnswered: false },
      { bound: 3, isAnswered: true },
      { bound: 4, isAnswered: false },
    ])('the next one makes it whole: $bound of 4 bound, answered: $isAnswered', (options) =>
      killedInMidGang(plane(), options),
    );

    it.each([{ bound: 0 }, { bound: 2 }])(
      'the next one says what blocks it when the room has gone: $bound of 4 bound',
      (options) => killedAndRoomLost(plane(), { ...options, isAnswered: true }),
    );
  });

  describe('beside kube-scheduler', () => {
    const plane = openedFor((paths) => openRealPlane({ paths }));

    it('both place their pods when there is room for all', () => besideWithRoom(plane()), 60_000);

    it('the nodes are filled by both when there is not', () => besideWithoutRoom(plane()), 60_000);

    it('a member that its node refuses is replaced', () => refusedMember(plane()), 60_000);
  });

  describe('with 1,000 nodes and 5,000 pods', () => {
    const plane = openedFor((paths) => openRealPlane({ paths }));

    it('fills every node to the last pod, and every group is whole', () => fullCluster(plane()), 180_000);
  });

  describe('when etcd has forgotten what the watches missed', () => {
    const plane = openedFor(async (paths) => openRealPlane({ paths: await withoutWatchCache(paths) }));

    it('scheduler and controller list again and go on', () => historyForgotten(plane()), 60_000);
  });
});

type Paths = Extract<typeof programs, { state: 'ready' }>['paths'];

/** A plane for the tests beside the call. */
function openedFor(open: (paths: Paths) => Promise<RealPlane>): () => RealPlane {
  let plane: RealPlane | undefined;
  beforeAll(async () => {
    if (programs.state === 'ready') plane = await open(programs.paths);
  }, 120_000);
  afterAll(async () => {
    await plane?.stop();
  });
  return () => plane!;
}
