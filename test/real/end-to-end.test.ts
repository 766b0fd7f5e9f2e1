import { afterAll, beforeAll, describe, it } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import type { BinaryName } from '../planes/real/binaries.ts';
import type { Provision } from '../planes/real/build.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { besideWithCapacity, besideWithoutCapacity, rejectedMember } from './beside-kube-scheduler.ts';
import { jobAndStatefulSet } from './controllers.ts';
import { killedAmongManyGangs, killedAndCapacityLost, killedInMidGang } from './crashes.ts';
import { fullCluster } from './crowds.ts';
import { apiServerAway, historyForgotten } from './outages.ts';
import { leaderFrozen, leaderKilledAndLeaderEnded } from './takeovers.ts';
import { openPlaneWithoutWatchCache } from './without-watch-cache.ts';

const alone = await provideForSuite('Tutti end to end', ['etcd', 'kube-apiserver']);
const withNodes = await provideForSuite('Tutti end to end, with controllers and kwok', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kwok',
]);
const withPeer = await provideForSuite('Tutti end to end, beside kube-scheduler', [
  'etcd',
  'kube-apiserver',
  'kube-scheduler',
]);

/** The stories assert, and reject when something is not as it should be. The planes take turns. */
describe('Tutti on a real API server', () => {
  describe.skipIf(withNodes.state === 'missing')('whose controllers make the pods and whose nodes run them', () => {
    const plane = openedFor(withNodes, (paths) => openRealPlane({ paths, controllerManager: true, kwok: true }));

    it('starts a Job whole, and then a StatefulSet that needs its room', () => jobAndStatefulSet(plane()));

    it('goes on when the API server was away for 20 s', () => apiServerAway(plane()));
  });

  describe.skipIf(alone.state === 'missing')('when the scheduler is killed in the middle of a gang', () => {
    const plane = openedFor(alone, (paths) => openRealPlane({ paths }));

    it.each([
      { bound: 0, isAnswered: true },
      { bound: 1, isAnswered: true },
      { bound: 2, isAnswered: false },
      { bound: 3, isAnswered: true },
      { bound: 4, isAnswered: false },
    ])('the next one makes it whole: $bound of 4 bound, answered: $isAnswered', (options) =>
      killedInMidGang(plane(), options),
    );

    it('the next one makes those whole that had begun, and starts no other', () => killedAmongManyGangs(plane()));

    it.each([{ bound: 0 }, { bound: 2 }])(
      'the next one says what blocks it when the room has gone: $bound of 4 bound',
      (options) => killedAndCapacityLost(plane(), { ...options, isAnswered: true }),
    );
  });

  describe.skipIf(alone.state === 'missing')('with three replicas', () => {
    const plane = openedFor(alone, (paths) => openRealPlane({ paths }));

    it('another one leads when the leader is killed, and when it is ended', () =>
      leaderKilledAndLeaderEnded(plane(), { lease: 5, renew: 3, retry: 1 }));

    it('one that was frozen while it led writes nothing when it goes on', () =>
      leaderFrozen(plane(), { lease: 5, renew: 3, retry: 1 }));
  });

  describe.skipIf(withPeer.state === 'missing')('beside kube-scheduler', () => {
    const plane = openedFor(withPeer, (paths) => openRealPlane({ paths }));

    it('both place their pods when there is room for all', () => besideWithCapacity(plane()));

    it('the nodes are filled by both when there is not', () => besideWithoutCapacity(plane()));

    it('a member that its node rejects is replaced', () => rejectedMember(plane()));
  });

  describe.skipIf(alone.state === 'missing')('with 1,000 nodes and 5,000 pods', () => {
    const plane = openedFor(alone, (paths) => openRealPlane({ paths }));

    it('fills every node to the last pod, and every group is whole', () => fullCluster(plane()));
  });

  describe.skipIf(alone.state === 'missing')('when etcd has forgotten what the watches missed', () => {
    const plane = openedFor(alone, openPlaneWithoutWatchCache);

    it('scheduler and controller list again and go on', () => historyForgotten(plane()));
  });
});

/** A plane for the tests beside the call, opened when there is what it takes. */
function openedFor<Name extends BinaryName>(
  programs: Provision<Name>,
  open: (paths: Readonly<Record<Name, string>>) => Promise<RealPlane>,
): () => RealPlane {
  let plane: RealPlane | undefined;
  beforeAll(async () => {
    if (programs.state === 'ready') plane = await open(programs.paths);
  });
  afterAll(async () => {
    await plane?.stop();
  });
  return () => plane!;
}
