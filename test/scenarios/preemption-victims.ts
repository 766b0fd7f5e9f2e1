import { expectBound, expectCountBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { podGroupConditions } from '../../src/api/pod-group.ts';
import { scenario } from './scenario.ts';
import {
  beginDeletion,
  boundGang,
  cpus,
  createGang,
  eventsOf,
  expectCountEvicted,
  expectEvent,
  expectEvicted,
  expectMarkedFirst,
  expectUntouched,
  fullNode,
  onlyOn,
} from './preemption-stage.ts';

/** Which pods are evicted for a pod or a gang of high priority, and when none are. */
export const preemptionVictims = {
  PE1: scenario('PE1 - a pod preempts the newest member of a gang that has more than its quorum', async (stage) => {
    const low = await fullNode(stage, { minMember: 2 });
    for (const [index, key] of low.entries()) {
      await stage.setPodStatus(key, { startTime: `2026-01-01T00:00:0${index === 2 ? 9 : index}Z` });
    }
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    await expectBound(stage.record, [high]);
    await expectEvicted(stage, low, [low[2]!]);
    await expectEvent(stage, low[2]!, 'Preempted', 'surplus member');
    return () => expectUntouched(stage, low.toSpliced(2, 1));
  }),

  PE2: scenario('PE2 - a pod preempts a gang without surplus as a whole', async (stage) => {
    await stage.startController();
    const low = await fullNode(stage, { minMember: 4 }, { grace: 30 });
    const group = `${stage.namespace}/low`;
    await expectGroupCondition(stage.record, group, {
      type: podGroupConditions.started,
      status: 'True',
      reason: 'QuorumReached',
    });
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    await expectEvicted(stage, low, low);
    await expectGroupCondition(stage.record, group, {
      type: podGroupConditions.started,
      status: 'False',
      reason: 'Preempted',
    });
    for (const key of low) await stage.deletePod(key);
    await expectBound(stage.record, [high]);
    await expectEvent(stage, group, 'Preempted', `Preempted by pod ${high} (priority 1000) on 1 node`);
    return () => {
      if (eventsOf(stage, group, 'Preempted').length !== 1) throw new Error('the group has more than one Event');
    };
  }),

  PE3: scenario(
    'PE3 - a pod on one node preempts a gang on all nodes, whose members are all marked first',
    async (stage) => {
      const [a, b] = await stage.addNodes(cpus('a', 2), cpus('b', 2));
      await stage.startScheduler();
      const low = await boundGang(stage, 'low', { minMember: 3 }, [a!, a!, b!, b!], { grace: 30 });
      const high = await stage.createPod('high', { cpu: 2, priority: 'high' });
      await expectEvicted(stage, low, low);
      expectMarkedFirst(stage, low);
      for (const key of low) await stage.deletePod(key);
      await expectBound(stage.record, [high]);
    },
  ),

  PE4: scenario('PE4 - a gang preempts single pods rather than a gang of the same priority', async (stage) => {
    const [a, b] = await stage.addNodes(cpus('a', 4), cpus('b', 4));
    const single = await stage.createPods('single', 2, { cpu: 1, nodeName: a! });
    await stage.createPods('other', 2, { cpu: 1, nodeName: b!, priority: 'high' });
    await stage.startScheduler();
    const low = await boundGang(stage, 'low', { minMember: 4 }, [a!, a!, b!, b!]);
    const high = await createGang(stage, 'high', { minMember: 2 });
    await expectBound(stage.record, high);
    await expectEvicted(stage, single, single);
    return () => expectUntouched(stage, low);
  }),

  PE5: scenario('PE5 - a gang preempts no pods of equal priority', async (stage) => {
    const low = await fullNode(stage, { minMember: 1 });
    const equal = await createGang(stage, 'equal', { minMember: 2 }, { priority: 'low' });
    await expectVerdict(stage.record, equal, {
      reason: 'Unschedulable',
      says: ['preemption: no pods of lower priority.'],
    });
    return () => expectUntouched(stage, low);
  }),

  PE6: scenario('PE6 - a gang with a member that never preempts evicts no pods', async (stage) => {
    const low = await fullNode(stage, { minMember: 1 });
    await stage.createGroup('high', { minMember: 2 });
    const spec = { group: 'high', cpu: 1 };
    const high = [
      await stage.createPod('high-0', { ...spec, priority: 'high' }),
      await stage.createPod('high-1', { ...spec, priority: 'never' }),
    ];
    await expectVerdict(stage.record, high, {
      reason: 'Unschedulable',
      says: ['preemption: not eligible due to preemptionPolicy=Never.'],
    });
    return () => expectUntouched(stage, low);
  }),

  PE7: scenario(
    'PE7 - a gang that would not fit even without the pods of lower priority evicts none',
    async (stage) => {
      const [a, b] = await stage.addNodes(cpus('a', 4), cpus('b', 4));
      const low = await stage.createPods('low', 4, { cpu: 1, nodeName: a! });
      const others = await stage.createPods('other', 3, { cpu: 1, nodeName: b!, priority: 'high' });
      await stage.startScheduler();
      const high = await createGang(stage, 'high', { minMember: 8 });
      await expectVerdict(stage.record, high, {
        reason: 'Unschedulable',
        says: ['preemption: not helpful: 5 of 8 members fit even with 4 pods of lower priority gone.'],
      });
      return () => expectUntouched(stage, [...low, ...others]);
    },
  ),

  PE8: scenario('PE8 - a gang that no node accepts evicts no pods, however often it is tried again', async (stage) => {
    const low = await fullNode(stage, { minMember: 1 });
    const high = await createGang(stage, 'high', { minMember: 2 }, { nodeSelector: { zone: 'nowhere' } });
    await expectVerdict(stage.record, high, { reason: 'Unschedulable', says: ['preemption:'] });
    // Each of these changes may help a pod.
    for (let round = 0; round < 3; round++) {
      const [more] = await stage.addNodes(cpus(`more-${round}`, 1));
      await beginDeletion(stage, await stage.createPod(`gone-${round}`, { cpu: 1, nodeName: more! }));
    }
    return () => expectUntouched(stage, low);
  }),

  PE9: scenario('PE9 - a gang uses free capacity and preempts only what it lacks', async (stage) => {
    const [a, b] = await stage.addNodes(cpus('a', 2), cpus('b', 2));
    const [low] = await stage.createPods('low', 1, { cpu: 1, nodeName: b! });
    const [other] = await stage.createPods('other', 1, { cpu: 1, nodeName: b!, priority: 'high' });
    await stage.startScheduler();
    const high = await createGang(stage, 'high', { minMember: 3 });
    await expectBound(stage.record, high);
    await expectEvicted(stage, [low!], [low!]);
    await expectCountBound(stage.record, high, 3);
    const onA = high.filter((key) => stage.record.pods.current.get(key)?.spec.nodeName === a);
    if (onA.length !== 2) throw new Error(`${onA.length} members use the free capacity of node a, expected 2`);
    return () => expectUntouched(stage, [other!]);
  }),

  PE10: scenario('PE10 - a pod preempts no more pods than necessary', async (stage) => {
    const [node] = await stage.addNodes(cpus('node', 4));
    const low = await stage.createPods('low', 4, { cpu: 1, nodeName: node! });
    await stage.startScheduler();
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    await expectBound(stage.record, [high]);
    const evicted = await expectCountEvicted(stage, low, 1);
    return () =>
      expectUntouched(
        stage,
        low.filter((key) => !evicted.includes(key)),
      );
  }),

  PE11: scenario('PE11 - a gang preempts one large gang rather than several smaller ones', async (stage) => {
    const nodes = await stage.addNodes(...Array.from({ length: 14 }, (_, index) => cpus(`node-${index}`, 1)));
    await stage.startScheduler();
    const two = await boundGang(stage, 'two', { minMember: 2 }, nodes.slice(0, 2));
    const four = await boundGang(stage, 'four', { minMember: 4 }, nodes.slice(2, 6));
    const eight = await boundGang(stage, 'eight', { minMember: 8 }, nodes.slice(6));
    const high = await createGang(stage, 'high', { minMember: 8 });
    await expectBound(stage.record, high);
    await expectEvicted(stage, eight, eight);
    return () => expectUntouched(stage, [...two, ...four]);
  }),

  PE12: scenario('PE12 - a gang that needs GPUs preempts a pod that only uses CPU', async (stage) => {
    const gpu = 'example.com/gpu';
    const [node] = await stage.addNodes(cpus('node', 4, { [gpu]: '4' }));
    const low = await stage.createPods('low', 1, { cpu: 1, nodeName: node! });
    await stage.startScheduler();
    const high = await createGang(stage, 'high', { minMember: 4 }, { requests: { [gpu]: 1 } });
    await expectBound(stage.record, high);
    await expectEvicted(stage, low, low);
  }),

  PE31: scenario('PE31 - a pod preempts the pod that its anti-affinity excludes', async (stage) => {
    const [node] = await stage.addNodes(cpus('node', 4));
    const noisy = await stage.createPod('noisy', { cpu: 1, nodeName: node!, labels: { app: 'noisy' } });
    const quiet = await stage.createPod('quiet', { cpu: 1, nodeName: node! });
    await stage.startScheduler();
    const high = await stage.createPod('high', {
      ...{ cpu: 1, priority: 'high' },
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [termFor('noisy')] } },
    });
    await expectBound(stage.record, [high]);
    await expectEvicted(stage, [noisy], [noisy]);
    return () => expectUntouched(stage, [quiet]);
  }),

  PE32: scenario('PE32 - a pod never preempts the pod to which it has a required affinity', async (stage) => {
    const [node] = await stage.addNodes(cpus('node', 2));
    const base = await stage.createPod('base', { cpu: 1, nodeName: node!, labels: { app: 'base' } });
    const other = await stage.createPod('other', { cpu: 1, nodeName: node! });
    await stage.setPodStatus(base, { startTime: '2026-01-01T00:00:00Z' });
    await stage.setPodStatus(other, { startTime: '2026-01-01T00:00:01Z' });
    await stage.startScheduler();
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [termFor('base')] } };
    const large = await stage.createPod('large', { cpu: 2, priority: 'high', affinity });
    await expectVerdict(stage.record, [large], { reason: 'Unschedulable', says: ['preemption:'] });
    expectUntouched(stage, [base, other]);
    const small = await stage.createPod('small', { cpu: 1, priority: 'high', affinity });
    await expectBound(stage.record, [small]);
    await expectEvicted(stage, [other], [other]);
    return () => expectUntouched(stage, [base]);
  }),

  PE33: scenario('PE33 - a pod preempts a pod of a Deployment rather than one of a DaemonSet', async (stage) => {
    const [node] = await stage.addNodes(cpus('node', 2));
    const startTime = '2026-01-01T00:00:00Z';
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      name: 'agents',
      uid: '6f5d6a54-0000-4000-8000-000000000001',
    };
    const single = await stage.createPod('single', { cpu: 1, nodeName: node! });
    const daemon = await stage.createPod('daemon', { cpu: 1, nodeName: node!, owner });
    for (const key of [single, daemon]) await stage.setPodStatus(key, { startTime });
    await stage.startScheduler();
    const high = await stage.createPod('high', { cpu: 1, priority: 'high' });
    await expectBound(stage.record, [high]);
    await expectEvicted(stage, [single], [single]);
    return () => expectUntouched(stage, [daemon]);
  }),

  PE35: scenario(
    'PE35 - a gang of mixed priorities defends itself with the highest and preempts with the lowest',
    async (stage) => {
      const [a, b] = await stage.addNodes(cpus('a', 3), cpus('b', 1));
      const outsider = await stage.createPods('outsider', 1, { cpu: 1, nodeName: b!, priority: 'high' });
      await stage.startScheduler();
      await stage.createGroup('mixed', { minMember: 3 });
      const inGang = { cpu: 1, group: 'mixed' };
      const mixed = [
        await stage.createPod('mixed-0', { ...inGang, ...onlyOn(a!), priority: 'mid' }),
        await stage.createPod('mixed-1', { ...inGang, ...onlyOn(a!), priority: 'highest' }),
        await stage.createPod('mixed-2', { ...inGang, ...onlyOn(a!), priority: 'highest' }),
      ];
      await expectBound(stage.record, mixed);
      const attacker = await stage.createPod('attacker', { cpu: 1, priority: 'high', ...onlyOn(a!) });
      await expectVerdict(stage.record, [attacker], { reason: 'Unschedulable', says: ['preemption:'] });
      await stage.createGroup('second', { minMember: 2 });
      const second = [
        await stage.createPod('second-0', { cpu: '500m', group: 'second', ...onlyOn(b!), priority: 'mid' }),
        await stage.createPod('second-1', { cpu: '500m', group: 'second', ...onlyOn(b!), priority: 'highest' }),
      ];
      await expectVerdict(stage.record, second, {
        reason: 'Unschedulable',
        says: ['preemption: no pods of lower priority.'],
      });
      return () => expectUntouched(stage, [...mixed, ...outsider]);
    },
  ),

  PE37: scenario('PE37 - a started gang that lost a member preempts for its replacement only', async (stage) => {
    const [a, b] = await stage.addNodes(cpus('a', 4), cpus('b', 1));
    await stage.startScheduler();
    const high = await boundGang(stage, 'high', { minMember: 4 }, [a!, a!, a!, a!], { priority: 'high' });
    const low = await stage.createPods('low', 1, { cpu: 1, nodeName: b! });
    await stage.deletePod(high[3]!);
    const other = await stage.createPod('other', { cpu: 1, priority: 'highest', ...onlyOn(a!) });
    await expectBound(stage.record, [other]);
    const replacement = await stage.createPod('high-4', { cpu: 1, priority: 'high', group: 'high' });
    await expectBound(stage.record, [replacement]);
    await expectEvicted(stage, low, low);
    return () => expectUntouched(stage, high.slice(0, 3));
  }),
} as const;

function termFor(app: string) {
  return { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app } } } as const;
}
