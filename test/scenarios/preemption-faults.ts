import { deferred } from '../../src/base/deferred.ts';
import { preemptionReason } from '../../src/api/pod.ts';
import type { TransportResponse } from '../../src/client/transport.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { statusAnswer } from '../planes/api-proxy.ts';
import { hangsMs } from '../planes/patience.ts';
import { AdvancingClock } from './advancing-clock.ts';
import {
  beginDeletion,
  boundGang,
  cpus,
  createGang,
  eventsOf,
  expectEvicted,
  expectMarkedFirst,
  expectNotDeleted,
  expectNotNominated,
  expectOutcome,
  expectSpared,
  expectUnmarked,
  expectUntouched,
  fullNode,
  isMarked,
  onlyOn,
  requestFor,
} from './preemption-stage.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const refused = (): TransportResponse => statusAnswer(422, 'Invalid', 'refused for a test');
const broken = (): TransportResponse => statusAnswer(500, 'InternalError', 'broken for a test');

/** Evictions that are refused, come too late or are cut short, and pods that end in another way than expected. */
export const preemptionFaults = {
  PE22: scenario(
    'PE22 - victims that succeed while they terminate do not count towards the quorum of their gang',
    async (stage) => {
      const low = await fullNode(stage, { minMember: 4 }, { grace: 30 });
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await expectEvicted(stage, low, low);
      for (const key of low) await stage.setPodStatus(key, { phase: 'Succeeded' });
      await expectBound(stage.record, [high]);
      await stage.deletePod(high);
      const again = await stage.createPods('again', 3, { cpu: 1, group: 'low' });
      await expectVerdict(stage.record, again, { reason: 'WaitingForGang' });
      expectNeverBound(stage.record, again);
      again.push(await stage.createPod('again-3', { cpu: 1, group: 'low' }));
      await expectBound(stage.record, again);
    },
  ),

  PE23: scenario(
    'PE23 - a pod that has taken the name of a victim before the delete arrives is not deleted',
    async (stage) => {
      const [a, b] = await stage.addNodes(cpus('a', 1), cpus('b', 1));
      const low = await stage.createPod('low', { cpu: 1, nodeName: a! });
      const other = await stage.createPod('other', { cpu: 1, nodeName: b!, priority: 'highest' });
      const proxy = await stage.openProxy();
      const [arrived, released, answered] = [deferred(), deferred(), deferred<number>()];
      proxy.fault = async (request, forward) => {
        if (requestFor(low, request) !== 'delete') return undefined;
        arrived.resolve();
        await released.promise;
        const response = await forward();
        answered.resolve(response.status);
        return response;
      };
      await stage.startScheduler({ through: proxy });
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await arrived.promise;
      await stage.deletePod(low);
      await stage.deletePod(other);
      await stage.createPod('low', { cpu: 1, nodeName: b! });
      released.resolve();
      const status = await answered.promise;
      if (status !== 409) throw new Error(`the API server answered the delete with ${status}, expected 409`);
      await expectBound(stage.record, [high]);
      return () => expectSpared(stage, [low]);
    },
  ),

  PE24: scenario(
    'PE24 - a gang is evicted to its end although the delete of a member fails again and again',
    async (stage) => {
      const clock = new AdvancingClock();
      const proxy = await stage.openProxy();
      const [node] = await stage.addNodes(cpus('node', 4));
      await stage.startScheduler({ through: proxy, clock });
      const low = await boundGang(
        stage,
        'low',
        { minMember: 4 },
        Array.from({ length: 4 }, () => node!),
      );
      let failures = 0;
      proxy.fault = (request) =>
        requestFor(low[1]!, request) === 'delete' && failures < 5 && ++failures > 0 ? broken() : undefined;
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      // The scheduler sends the delete again after a pause.
      await stage.logs.until(({ message }) => message === 'could not evict a pod');
      clock.advance(10_000);
      await expectBound(stage.record, [high]);
      await expectEvicted(stage, low, low);
      return () => {
        if (failures !== 5) throw new Error(`${failures} deletes failed, expected 5`);
      };
    },
  ),

  PE25: scenario(
    'PE25 - if the mark of a victim is refused, no pod is deleted, and the verdict names the permission',
    async (stage) => {
      const proxy = await stage.openProxy();
      const [node] = await stage.addNodes(cpus('node', 4));
      await stage.startScheduler({ through: proxy });
      const low = await boundGang(
        stage,
        'low',
        { minMember: 4 },
        Array.from({ length: 4 }, () => node!),
      );
      stage.logs.expected.push('API server rejects access');
      const [namespace] = low[3]!.split('/');
      const message = `pods "low-3" is forbidden: User "tutti" cannot patch resource "pods/status" in API group "" in the namespace "${namespace}"`;
      proxy.fault = (request) =>
        requestFor(low[3]!, request) === 'mark' ? statusAnswer(403, 'Forbidden', message) : undefined;
      const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
      await expectVerdict(stage.record, [high], {
        reason: 'Unschedulable',
        says: ['the scheduler lacks the permission to patch pods/status'],
      });
      await expectUnmarked(stage, low);
      await expectNotNominated(stage, [high]);
      return () => expectNotDeleted(stage, low);
    },
  ),

  PE26: scenario(
    'PE26 - if a gang is deleted while it preempts two gangs, the one whose eviction has begun goes and the other one stays',
    async (stage) => {
      const clock = new AdvancingClock();
      const proxy = await stage.openProxy();
      const [node] = await stage.addNodes(cpus('node', 4));
      const scheduler = await stage.startScheduler({ through: proxy, clock });
      const first = await boundGang(stage, 'first', { minMember: 2 }, [node!, node!]);
      const second = await boundGang(stage, 'second', { minMember: 2 }, [node!, node!]);
      let isGone = false;
      proxy.fault = (request) => {
        if (requestFor(first[1]!, request) === 'delete') return isGone ? undefined : refused();
        return second.some((key) => requestFor(key, request) === 'delete') ? refused() : undefined;
      };
      const high = await createGang(stage, 'high', { minMember: 4 });
      for (const key of [first[1]!, ...second]) {
        await stage.logs.until(({ message, fields }) => message === 'could not evict a pod' && fields.pod === key);
      }
      await stage.record.until(`${first[0]} is gone`, hangsMs, () =>
        stage.record.pods.current.has(first[0]!) ? 'it is not' : undefined,
      );
      for (const key of high) await stage.deletePod(key);
      await expectOutcome(scheduler, 'abandoned', 1);
      await expectUnmarked(stage, second);
      isGone = true;
      clock.advance(10_000);
      await expectEvicted(stage, first, first);
      return () => expectNotDeleted(stage, second);
    },
  ),

  PE27: scenario(
    'PE27 - a scheduler that dies while it preempts a gang leaves no part of it, and no mark',
    async (stage) => {
      let next: RunningProcess | undefined;
      for (const requests of [2, 4, 6]) {
        await next?.stop();
        next = await dieAfter(stage, requests);
      }
    },
  ),

  PE44: scenario(
    'PE44 - a member that another scheduler preempts is replaced, and is not taken for a victim of Tutti',
    async (stage) => {
      await stage.startController();
      const [node] = await stage.addNodes(cpus('node', 4));
      await stage.startScheduler();
      const gang = await boundGang(
        stage,
        'gang',
        { minMember: 4 },
        Array.from({ length: 4 }, () => node!),
        { grace: 30 },
      );
      const [lost = '', ...others] = gang;
      await stage.setPodStatus(lost, {
        conditions: [
          {
            ...{ type: 'DisruptionTarget', status: 'True', reason: preemptionReason },
            message: 'default-scheduler: preempting to accommodate a higher priority pod',
          },
        ],
      });
      await beginDeletion(stage, lost);
      const replacement = await stage.createPod('gang-4', { cpu: 1, group: 'gang' });
      await expectVerdict(stage.record, [replacement], { reason: 'Unschedulable' });
      const pod = stage.record.pods.current.get(lost);
      if (pod === undefined || !isMarked(pod)) throw new Error('the mark of the other scheduler was taken back');
      await stage.deletePod(lost);
      await expectBound(stage.record, [replacement]);
      return () => {
        expectUntouched(stage, others);
        if (eventsOf(stage, lost, 'Preempted').length > 0) throw new Error('Tutti reported the victim as its own');
      };
    },
  ),
} as const;

/**
 * A scheduler dies after this number of requests about the four members of a gang that it preempts: marks first, then deletes. Returns the one
 * that takes over.
 */
async function dieAfter(stage: Stage, requests: number): Promise<RunningProcess> {
  const [node] = await stage.addNodes(cpus(`node-${requests}`, 4));
  const proxy = await stage.openProxy();
  const first = await stage.startScheduler({ through: proxy });
  const low = await boundGang(
    stage,
    `low-${requests}`,
    { minMember: 4 },
    Array.from({ length: 4 }, () => node!),
    { grace: 30 },
  );
  const died = deferred();
  let sent = 0;
  proxy.fault = async (request, forward) => {
    if (low.every((key) => requestFor(key, request) === undefined)) return undefined;
    if (++sent > requests) {
      died.resolve();
      throw new Error('the process has died');
    }
    return forward();
  };
  const high = await stage.createPod(`high-${requests}`, { cpu: 1, priority: 'high', ...onlyOn(node!) });
  await died.promise;
  // A process that dies sends nothing more: cut its connections first.
  await proxy.cut();
  await first.stop();
  const next = await stage.startScheduler();
  await expectEvicted(stage, low, low);
  expectMarkedFirst(stage, low);
  for (const key of low) await stage.deletePod(key);
  await expectBound(stage.record, [high]);
  return next;
}
