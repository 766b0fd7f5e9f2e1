import { podPath } from '../../src/api/pod-path.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import type { ClusterRecord } from '../expect/cluster-record.ts';
import { expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { keyOf } from '../expect/watched.ts';
import { AdvancingClock } from './advancing-clock.ts';
import {
  beginDeletion,
  cpus,
  createGang,
  expectCountEvicted,
  expectEvent,
  expectEvicted,
  expectNominated,
  expectNotDeleted,
  expectNotNominated,
  expectOutcome,
  expectUnmarked,
  expectUntouched,
  fullNode,
  holdMarks,
} from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** A pod that keeps terminating after it was evicted, until the test deletes it. */
const slow = { cpu: 1, grace: 30 } as const;

/** Reserved capacity: what happens between an eviction and the moment when the pod or gang is bound. */
export const preemptionPlans = {
  PE13: scenario(
    'PE13 - a pod that replaces a victim does not get the reserved capacity, on any node of the plan',
    async (stage) => {
      const [a, b] = await stage.addNodes(cpus('a', 1), cpus('b', 1), cpus('free', 1));
      const owner = await stage.createOwner('job');
      const low = [
        await stage.createPod('low-a', { ...slow, nodeName: a!, owner }),
        await stage.createPod('low-b', { ...slow, nodeName: b!, owner }),
      ];
      await stage.startScheduler();
      const high = await createGang(stage, 'high', { minMember: 3 });
      await expectEvicted(stage, low, low);
      await expectNominated(stage, high);
      await stage.deletePod(low[0]!);
      // The Job controller replaces the pod at once.
      const again = await stage.createPods('again', 2, { cpu: 1, owner });
      await expectVerdict(stage.record, again, { reason: 'Unschedulable' });
      await expectVerdict(stage.record, high, { reason: 'Unschedulable', says: ['Waiting for'] });
      await stage.deletePod(low[1]!);
      await expectBound(stage.record, high);
      return () => expectNeverBound(stage.record, again);
    },
  ),

  PE15: scenario(
    'PE15 - a victim that does not terminate is named and avoided, and lower priorities get the reserved capacity',
    async (stage) => {
      const clock = new AdvancingClock();
      const [a, free] = await stage.addNodes(cpus('a', 1), cpus('free', 1));
      const stuck = await stage.createPod('stuck', { cpu: 1, nodeName: a!, finalizers: ['example.com/hold'] });
      const release = (): Promise<void> => releaseFinalizer(stage, stuck);
      stage.atEnd(release);
      await stage.startScheduler({ clock });
      const high = await createGang(stage, 'high', { minMember: 2 });
      await expectNominated(stage, high);
      // The time that the pod may take begins when the scheduler knows that the API server has accepted the delete.
      await expectEvent(stage, stuck, 'Preempted');
      clock.advance(61_000);
      await expectNotNominated(stage, high);
      const why = `pod ${stuck} is still terminating on node ${a}`;
      await expectEvent(stage, `${stage.namespace}/high`, 'PreemptionExpired', why);
      await expectVerdict(stage.record, high, {
        reason: 'Unschedulable',
        says: ['preemption: gave up after', why, 'next try not before'],
      });
      const lower = await stage.createPod('lower', { cpu: 1 });
      await expectBound(stage.record, [lower]);
      if (nodeOf(stage.record, lower) !== free) throw new Error(`${lower} is not bound to ${free}`);
      clock.advance(61_000);
      // After the pause, the gang may preempt again, but it does not wait for the same pod.
      await expectVerdict(stage.record, high, { reason: 'Unschedulable', says: ['preemption: not helpful'] });
      expectUntouched(stage, [lower]);
      await release();
      await expectBound(stage.record, high);
      await expectEvicted(stage, [lower], [lower]);
    },
  ),

  PE16: scenario(
    'PE16 - a pod whose nominated node is cordoned, and then one that is deleted, plans again at once',
    async (stage) => {
      const nodes = await stage.addNodes(...['a', 'b', 'c'].map((name) => cpus(name, 1)));
      const low: string[] = [];
      for (const [index, nodeName] of nodes.entries())
        low.push(await stage.createPod(`low-${index}`, { ...slow, nodeName }));
      await stage.startScheduler();
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      const [first] = await expectNominated(stage, [high]);
      await expectCountEvicted(stage, low, 1);
      await stage.setNodeSpec(first!, { unschedulable: true });
      const [second] = await expectNominated(stage, [high], ([node]) => node !== first);
      await expectCountEvicted(stage, low, 2);
      await stage.removeNode(second!);
      const [third] = await expectNominated(stage, [high], ([node]) => node !== first && node !== second);
      await expectCountEvicted(stage, low, 3);
      await stage.deletePod(low[nodes.indexOf(third!)]!);
      await expectBound(stage.record, [high]);
      for (const key of low) await stage.deletePod(key).catch(() => undefined);
    },
  ),

  PE30: scenario('PE30 - a pod waits for a pod that terminates already, and preempts none', async (stage) => {
    const [a, b] = await stage.addNodes(cpus('a', 1), cpus('b', 1));
    const leaving = await stage.createPod('leaving', { ...slow, nodeName: a!, priority: 'highest' });
    const low = await stage.createPod('low', { ...slow, nodeName: b! });
    await beginDeletion(stage, leaving);
    await stage.startScheduler();
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    const [node] = await expectNominated(stage, [high]);
    if (node !== a) throw new Error(`node ${node} is nominated, expected ${a}`);
    await stage.deletePod(leaving);
    await expectBound(stage.record, [high]);
    return () => expectUntouched(stage, [low]);
  }),

  PE38: scenario(
    'PE38 - a gang that finds other capacity before victims were deleted is bound there, and spares them',
    async (stage) => {
      const [a] = await stage.addNodes(cpus('a', 2));
      const low = await stage.createPods('low', 2, { cpu: 1, nodeName: a! });
      const proxy = await stage.openProxy();
      const { held, release } = holdMarks(proxy, low[1]!);
      const scheduler = await stage.startScheduler({ through: proxy });
      const high = await createGang(stage, 'high', { minMember: 2 });
      await held;
      const [b] = await stage.addNodes(cpus('b', 2));
      await expectBound(stage.record, high);
      for (const key of high) if (nodeOf(stage.record, key) !== b) throw new Error(`${key} is not bound to ${b}`);
      release();
      await expectOutcome(scheduler, 'elsewhere', 1);
      await expectUnmarked(stage, low);
      return () => expectNotDeleted(stage, low);
    },
  ),

  PE39: scenario('PE39 - an autoscaler never sees a member that is unschedulable and not nominated', async (stage) => {
    const low = await fullNode(stage, { minMember: 4 }, { grace: 30 });
    const high = await createGang(stage, 'high', { minMember: 4 });
    await expectEvicted(stage, low, low);
    await expectNominated(stage, high);
    for (const key of low) await stage.deletePod(key);
    await expectBound(stage.record, high);
    return () => expectNoUnmetDemand(stage.record, high);
  }),
} as const;

/** Asserts that whenever one of the pods was unschedulable, a node was nominated for it. */
function expectNoUnmetDemand(record: ClusterRecord, pods: readonly string[]): void {
  let unschedulable = 0;
  for (const { object } of record.pods.changes) {
    if (!pods.includes(keyOf(object))) continue;
    const { conditions = [], nominatedNodeName = '' } = object.status ?? {};
    if (!conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable')) continue;
    unschedulable++;
    if (nominatedNodeName === '') throw new Error(`${keyOf(object)} was unschedulable without a nomination`);
  }
  if (unschedulable === 0) throw new Error('none of the pods was ever unschedulable');
}

async function releaseFinalizer({ client }: Stage, key: string): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  await client
    .patch(podPath({ namespace, name }), 'merge', { metadata: { finalizers: null } })
    .catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
}
