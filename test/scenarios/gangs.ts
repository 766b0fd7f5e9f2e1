import { expectBound, expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Upstream's integration cases: real API server and scheduler, and no kubelet runs the pods. Memory is in bytes. */
export const gangs = {
  t1: scenario('of two groups, the one that fits starts as a whole and the other not at all', async (stage) => {
    const { a, b } = await twoGroups(stage);
    const pods = { a: await a(3), b: await b(4) };
    return aStartsAlone(stage, pods);
  }),

  t2: scenario('the same holds when the members of both arrive alternately', async (stage) => {
    const { a, b } = await twoGroups(stage);
    const pods: Record<'a' | 'b', string[]> = { a: [], b: [] };
    for (const next of ['a', 'b', 'a', 'b', 'a', 'b', 'b'] as const) {
      pods[next].push(...(next === 'a' ? await a(1) : await b(1)));
    }
    return aStartsAlone(stage, pods);
  }),

  t3: scenario('a group that lacks a member waits and blocks no other pod', async (stage) => {
    await oneSmallNode(stage);
    await stage.createGroup('a', { minMember: 4, scheduleTimeoutSeconds: 10 });
    const { members, plain } = await inTurns(stage, ['a-0', 'p2', 'a-1', 'p3', 'a-2'], { memory: 100 });
    await expectBound(stage.record, plain);
    await expectVerdict(stage.record, members, { reason: 'WaitingForGang', says: ['has 3 of the 4 members'] });
    return () => expectNeverBound(stage.record, members);
  }),

  // In upstream, plain pods preempt members that merely wait at Permit. In Tutti, members never occupy nodes while they wait, and only the
  // queue order decides: the plain pods have a higher priority and get the node.
  t6: scenario(
    'pods of higher priority are bound although a group of lower priority arrives with them',
    async (stage) => {
      await oneSmallNode(stage);
      await stage.createGroup('a', { minMember: 3, scheduleTimeoutSeconds: 10 });
      const { members, plain } = await inTurns(stage, ['a-0', 'p2', 'a-1', 'p3', 'a-2', 'p4'], {
        memory: 100,
        priority: 'high',
      });
      await expectBound(stage.record, plain);
      await expectVerdict(stage.record, members, { reason: 'Unschedulable', says: ['Insufficient memory'] });
      return () => expectNeverBound(stage.record, members);
    },
  ),

  t9: scenario('a group whose minResources exceed the cluster is rejected, and the other starts', async (stage) => {
    const { a, b } = await twoGroups(stage, { a: '150', b: '400' });
    const pods: Record<'a' | 'b', string[]> = { a: [], b: [] };
    for (const next of ['a', 'b', 'a', 'b', 'a', 'b', 'b'] as const) {
      pods[next].push(...(next === 'a' ? await a(1) : await b(1)));
    }
    const verify = await aStartsAlone(stage, pods);
    await expectVerdict(stage.record, pods.b, { reason: 'Unschedulable', says: ['minResources', 'memory'] });
    return verify;
  }),

  // Upstream builds the node but never creates it, and the phase is dropped on create, so its case cannot fail. Here the node is real, and
  // the member ends by a status update.
  t10: scenario('a member that ended before its group ever started does not count', async (stage) => {
    const [node] = await stage.addNodes({ name: 'six', allocatable: { cpu: '6' } });
    await stage.startScheduler();
    await stage.createGroup('a', { minMember: 6, scheduleTimeoutSeconds: 10 });
    const done = await stage.createPod('done', { group: 'a', cpu: 1, nodeName: node! });
    await stage.setPodStatus(done, { phase: 'Succeeded' });
    const members = await stage.createPods('a', 5, { group: 'a', cpu: 1 });
    await expectVerdict(stage.record, members, { reason: 'WaitingForGang', says: ['has 5 of the 6 members'] });
    return () => expectNeverBound(stage.record, members);
  }),

  // Upstream allows 120 s, because its groups occupy nodes and then back off. In Tutti, a failed group reserves nothing and blocks nothing,
  // so it takes a few seconds even on a busy machine.
  t11: scenario('a group that does not fit does not block a younger one that does', async (stage) => {
    const sizes = [6, 2, 2, 2];
    await stage.addNodes(...sizes.map((cpu, index) => ({ name: `node-${index}`, allocatable: { cpu } })));
    await stage.startScheduler();
    await stage.createGroup('pg1', { minMember: 6, scheduleTimeoutSeconds: 3 });
    await stage.createGroup('pg2', { minMember: 1, scheduleTimeoutSeconds: 3 });
    const large = await stage.createPods('pg1', 6, { group: 'pg1', cpu: 4, priority: 'mid' });
    const small = await stage.createPods('pg2', 1, { group: 'pg2', cpu: 2, priority: 'mid' });
    await expectBound(stage.record, small);
    await expectVerdict(stage.record, large, { reason: 'Unschedulable', says: ['Insufficient cpu'] });
    return () => expectNeverBound(stage.record, large);
  }),
} as const satisfies Record<string, Scenario>;

/** Adds a node with 300 bytes of memory, and starts the scheduler before any pod exists. */
async function oneSmallNode(stage: Stage): Promise<void> {
  await stage.addNodes({ name: 'small', allocatable: { memory: '300', pods: '32' } });
  await stage.startScheduler();
}

/** Creates groups on a node for 300: A needs 3 × 50, B 4 × 100. Returns functions that create further members of each. */
async function twoGroups(
  stage: Stage,
  minResources?: Readonly<Record<'a' | 'b', string>>,
): Promise<Record<'a' | 'b', (count: number) => Promise<string[]>>> {
  await oneSmallNode(stage);
  const create = async (
    group: 'a' | 'b',
    minMember: number,
    memory: number,
  ): Promise<(count: number) => Promise<string[]>> => {
    const total = minResources && { minResources: { memory: minResources[group] } };
    await stage.createGroup(group, { minMember, scheduleTimeoutSeconds: 10, ...total });
    let created = 0;
    return async (count) => {
      const keys: string[] = [];
      for (let index = 0; index < count; index++) {
        keys.push(await stage.createPod(`${group}-${created++}`, { group, memory, priority: 'mid' }));
      }
      return keys;
    };
  };
  return { a: await create('a', 3, 50), b: await create('b', 4, 100) };
}

async function aStartsAlone(stage: Stage, { a, b }: Record<'a' | 'b', readonly string[]>): Promise<() => void> {
  await expectBound(stage.record, a);
  await expectVerdict(stage.record, b, { reason: 'Unschedulable' });
  return () => expectNeverBound(stage.record, b);
}

/** Creates pods in this order: those named a-… are members of A with 50 bytes, the others are plain. */
async function inTurns(
  stage: Stage,
  names: readonly string[],
  plainSpec: { readonly memory: number; readonly priority?: 'high' },
): Promise<{ members: string[]; plain: string[] }> {
  const members: string[] = [];
  const plain: string[] = [];
  for (const name of names) {
    if (name.startsWith('a-')) {
      members.push(await stage.createPod(name, { group: 'a', memory: 50, priority: 'mid' }));
    } else {
      plain.push(await stage.createPod(name, plainSpec));
    }
  }
  return { members, plain };
}
