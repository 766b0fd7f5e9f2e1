import { describe, it } from 'vitest';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { besideWithCapacity, besideWithoutCapacity, rejectedMember } from './beside-kube-scheduler.ts';
import { jobAndStatefulSet } from './controllers.ts';
import { killedAmongManyGangs, killedAndCapacityLost, killedInMidGang } from './crashes.ts';
import { fullCluster } from './crowds.ts';
import { apiServerAway, historyForgotten } from './outages.ts';
import { leaderFrozen, leaderKilledAndLeaderEnded } from './takeovers.ts';
import { turnAfterLeaderChange } from './turns.ts';
import { openPlaneWithoutWatchCache } from './without-watch-cache.ts';

const alone = await provideForSuite('Tutti end to end', ['etcd', 'kube-apiserver']);
const withNodes = await provideForSuite('Tutti end to end, with controllers and kwok', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kwok',
]);
const withPeer = await provideForSuite('Tutti end to end, next to kube-scheduler', [
  'etcd',
  'kube-apiserver',
  'kube-scheduler',
]);

/** The scenarios assert, and reject when an expectation fails. The planes run one at a time. */
describe('Tutti on a real API server', () => {
  describe.skipIf(withNodes.state === 'missing')(
    'with controllers that create the pods and nodes that run them',
    () => {
      const plane = planeForSuite(withNodes, { controllerManager: true, kwok: true });

      it('starts a Job as a whole, and then a StatefulSet that needs its capacity', () => jobAndStatefulSet(plane()));

      it('continues after the API server was down for 20 s', () => apiServerAway(plane()));
    },
  );

  describe.skipIf(alone.state === 'missing')('when the scheduler is killed while it binds a gang', () => {
    const plane = planeForSuite(alone);

    it.each([
      { bound: 0, isAnswered: true },
      { bound: 1, isAnswered: true },
      { bound: 2, isAnswered: false },
      { bound: 3, isAnswered: true },
      { bound: 4, isAnswered: false },
    ])('the next one completes it: $bound of 4 bound, answered: $isAnswered', (options) =>
      killedInMidGang(plane(), options),
    );

    it('the next one completes the started gangs, and starts no other', () => killedAmongManyGangs(plane()));

    it.each([{ bound: 0 }, { bound: 2 }])(
      'the next one reports what blocks it when its capacity was taken: $bound of 4 bound',
      (options) => killedAndCapacityLost(plane(), { ...options, isAnswered: true }),
    );
  });

  describe.skipIf(alone.state === 'missing')('with three replicas', () => {
    const plane = planeForSuite(alone);

    it('another replica leads after the leader is killed, and after it is terminated', () =>
      leaderKilledAndLeaderEnded(plane(), { lease: 5, renew: 3, retry: 1 }));

    it('a leader that was frozen writes nothing when it resumes', () =>
      leaderFrozen(plane(), { lease: 5, renew: 3, retry: 1 }));

    it('BF7 - another replica gives the turn to the same gang after the leader is killed', () =>
      turnAfterLeaderChange(plane(), { lease: 5, renew: 3, retry: 1 }));
  });

  describe.skipIf(withPeer.state === 'missing')('next to kube-scheduler', () => {
    const plane = planeForSuite(withPeer);

    it('both schedulers bind their pods when there is capacity for all', () => besideWithCapacity(plane()));

    it('both schedulers fill the nodes when there is not', () => besideWithoutCapacity(plane()));

    it('a member that its node rejects is replaced', () => rejectedMember(plane()));
  });

  describe.skipIf(alone.state === 'missing')('with 1,000 nodes and 5,000 pods', () => {
    const plane = planeForSuite(alone);

    it('fills every node completely, and completes every group', () => fullCluster(plane()));
  });

  describe.skipIf(alone.state === 'missing')('when etcd has forgotten the changes that the watches missed', () => {
    const plane = planeForSuite(alone, {}, openPlaneWithoutWatchCache);

    it('scheduler and controller list again and continue', () => historyForgotten(plane()));
  });
});
