import type { BackoffPolicy } from '../../src/base/backoff.ts';
import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectGroupCondition } from '../expect/expect-phase.ts';
import { expectVerdict, expectWarning } from '../expect/expect-verdict.ts';
import type { PodOwner } from './pod-manifest.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';
import { hangsMs } from '../planes/patience.ts';

/**
 * Groups that lose members after they were bound, or that lose the capacity for their remaining members. The test acts as their controller.
 */
export const losses = {
  released: scenario(
    'a new scheduler releases a partially bound group if other pods take the remaining capacity; the group later starts as a whole',
    async (stage) => {
      const { gang, rivals } = await partiallyBoundGang(stage, { repairGraceSeconds: 2 });
      await stage.record.until('the bound member is gone', hangsMs, () =>
        gang.some((key) => nodeOf(stage.record, key) !== undefined) ? 'it still exists' : undefined,
      );
      await expectWarning(stage.record, [`${stage.namespace}/gang`], { reason: 'Released', says: ['within 2 s'] });
      await expectGroupCondition(stage.record, `${stage.namespace}/gang`, {
        type: 'Incomplete',
        status: 'False',
        reason: 'NotScheduled',
      });
      const again = await stage.createPod('gang-again', {
        group: 'gang',
        cpu: 1,
        owner: await stage.createOwner('job-2'),
      });
      await stage.deletePod(rivals[0]!);
      const whole = [...gang.filter((key) => stage.record.pods.current.has(key)), again];
      await expectBound(stage.record, whole);
    },
  ),

  'kept-trying': scenario(
    'a group with policy KeepTrying stays partially bound, and its members come first among pods of their priority',
    async (stage) => {
      // With a longer backoff, a pod of higher priority may be in backoff when the capacity is freed, and the gang not.
      const podBackoff = { initialMs: 1, maxMs: 1 };
      const policy = { repairGraceSeconds: 1, repairPolicy: 'KeepTrying' } as const;
      const { gang, rivals } = await partiallyBoundGang(stage, policy, true, podBackoff);
      await expectWarning(stage.record, [`${stage.namespace}/gang`], {
        reason: 'NotReleased',
        says: ['its repairPolicy is KeepTrying'],
      });
      await expectGroupCondition(stage.record, `${stage.namespace}/gang`, {
        type: 'Incomplete',
        status: 'True',
        reason: 'PartlyScheduled',
      });
      const left = gang.filter((key) => nodeOf(stage.record, key) === undefined);
      await expectVerdict(stage.record, left, {
        reason: 'Unschedulable',
        says: ['stay bound: its repairPolicy is KeepTrying'],
      });
      const equal = await stage.createPod('equal', { cpu: 1 });
      const important = await stage.createPod('important', { cpu: 2, priority: 'never' });
      await expectVerdict(stage.record, [important], { reason: 'Unschedulable' });
      await stage.deletePod(rivals[0]!);
      await expectBound(stage.record, [important]);
      await stage.deletePod(important);
      await expectBound(stage.record, gang);
      return () => expectNeverBound(stage.record, [equal]);
    },
  ),

  'no-controller': scenario('the scheduler does not evict members that no controller recreates', async (stage) => {
    const { gang, rivals } = await partiallyBoundGang(stage, { repairGraceSeconds: 1 }, false);
    await expectWarning(stage.record, [`${stage.namespace}/gang`], { reason: 'NotReleased', says: ['no controller'] });
    await stage.deletePod(rivals[0]!);
    await expectBound(stage.record, gang);
  }),

  'lost-member': scenario('the capacity of a lost member is reserved for its replacement', async (stage) => {
    await stage.startController();
    await stage.addNodes({ name: 'two', allocatable: { cpu: '2' } });
    await stage.startScheduler();
    await stage.createGroup('gang', { minMember: 2 });
    const [gone, stays] = await stage.createPods('gang', 2, { group: 'gang', cpu: 1 });
    await expectBound(stage.record, [gone!, stays!]);
    await expectGroupCondition(stage.record, `${stage.namespace}/gang`, {
      type: 'Started',
      status: 'True',
      reason: 'QuorumReached',
    });
    const equal = await stage.createPod('equal', { cpu: 1 });
    await expectVerdict(stage.record, [equal], { reason: 'Unschedulable' });
    await stage.deletePod(gone!);
    await expectWarning(stage.record, [`${stage.namespace}/gang`], {
      reason: 'MemberLost',
      says: ['is reserved for its replacement'],
    });
    await expectGroupCondition(stage.record, `${stage.namespace}/gang`, {
      type: 'Incomplete',
      status: 'True',
      reason: 'MemberLost',
    });
    await expectBound(stage.record, [await stage.createPod('gang-again', { group: 'gang', cpu: 1 })]);
    return () => expectNeverBound(stage.record, [equal]);
  }),

  'second-life': scenario(
    'a started gang that is deleted whole and recreated starts over: no member is bound until all fit',
    async (stage) => {
      await stage.startController();
      const [, small] = await stage.addNodes(
        { name: 'large', allocatable: { cpu: '2' } },
        { name: 'small', allocatable: { cpu: '1' } },
      );
      await stage.startScheduler();
      await stage.createGroup('gang', { minMember: 3 });
      const first = await stage.createPods('gang', 3, { group: 'gang', cpu: 1 });
      await expectBound(stage.record, first);
      const startedIs = async (status: 'True' | 'False', reason: string): Promise<void> =>
        expectGroupCondition(stage.record, `${stage.namespace}/gang`, { type: 'Started', status, reason });
      await startedIs('True', 'QuorumReached');
      await stage.setNodeSpec(small!, { unschedulable: true });
      for (const key of first) await stage.deletePod(key);
      await startedIs('False', 'Ended');
      const second = await stage.createPods('gang-again', 3, { group: 'gang', cpu: 1 });
      await expectVerdict(stage.record, second, { reason: 'Unschedulable' });
      expectNeverBound(stage.record, second);
      await stage.addNodes({ name: 'other', allocatable: { cpu: '1' } });
      await expectBound(stage.record, second);
      await startedIs('True', 'QuorumReached');
    },
  ),

  'rejected-member': scenario(
    'a node that rejects a member gets no more similar pods, and the replacement is bound to another node',
    async (stage) => {
      stage.expectsRejections = true;
      await stage.startController();
      // The node has less capacity than its status says.
      const [liar] = await stage.addSimulatedNodes({ name: 'liar', allocatable: { cpu: '1' } });
      await stage.setNodeStatus(liar!, { allocatable: { cpu: '4' }, capacity: { cpu: '4' } });
      await stage.startScheduler();
      await stage.createGroup('gang', { minMember: 2 });
      const gang = await stage.createPods('gang', 2, { group: 'gang', cpu: 1 });
      const phaseOf = (key: string): string | undefined => stage.record.pods.current.get(key)?.status?.phase;
      await stage.record.until('one is rejected', hangsMs, () =>
        gang.some((key) => phaseOf(key) === 'Failed') ? undefined : 'both are admitted',
      );
      await expectWarning(stage.record, [`${stage.namespace}/gang`], { reason: 'MemberLost', says: ['(OutOfcpu)'] });
      await expectGroupCondition(stage.record, `${stage.namespace}/gang`, {
        type: 'Incomplete',
        status: 'True',
        reason: 'MemberRefused',
        says: 'OutOfcpu',
      });
      const again = await stage.createPod('gang-again', { group: 'gang', cpu: 1 });
      await expectVerdict(stage.record, [again], {
        reason: 'Unschedulable',
        says: ['did not admit a pod like this one'],
      });
      const [honest] = await stage.addSimulatedNodes({ name: 'honest', allocatable: { cpu: '1' } });
      await expectBound(stage.record, [again]);
      return () => {
        if (nodeOf(stage.record, again) !== honest) throw new Error(`${again} is not bound to ${honest}`);
      };
    },
  ),

  'lost-node': scenario(
    'the scheduler reports a lost node, and the replacements of its members are bound to other nodes',
    async (stage) => {
      await stage.startController();
      const nodes = await stage.addNodes(
        { name: 'one', allocatable: { cpu: '1' } },
        { name: 'other', allocatable: { cpu: '1' } },
      );
      await stage.startScheduler();
      await stage.createGroup('gang', { minMember: 2 });
      const gang = await stage.createPods('gang', 2, { group: 'gang', cpu: 1 });
      await expectBound(stage.record, gang);
      await stage.addNodes({ name: 'spare', allocatable: { cpu: '1' } });
      await stage.removeNode(nodes[0]!);
      await expectWarning(stage.record, [`${stage.namespace}/gang`], { reason: 'NodeLost', says: [nodes[0]!] });
      // The scheduler does nothing else until the pod is deleted.
      const lost = gang.find((key) => nodeOf(stage.record, key) === nodes[0])!;
      await stage.deletePod(lost);
      await expectWarning(stage.record, [`${stage.namespace}/gang`], {
        reason: 'MemberLost',
        says: ['capacity on another node'],
      });
      await expectBound(stage.record, [await stage.createPod('gang-again', { group: 'gang', cpu: 1 })]);
      return () => {
        const others = gang.filter((key) => key !== lost);
        if (others.some((key) => nodeOf(stage.record, key) === undefined)) throw new Error('a sibling was evicted');
      };
    },
  ),

  'stranded-member': scenario(
    'no members are bound to a quorum that includes a member on an unreachable node',
    async (stage) => {
      stage.partialForMs = 60_000;
      const [first] = await stage.addNodes(
        { name: 'first', allocatable: { cpu: '1' } },
        { name: 'rest', allocatable: { cpu: '2' } },
      );
      await stage.createGroup('gang', { minMember: 3, repairPolicy: 'KeepTrying' });
      await stage.createPod('gang-first', { group: 'gang', cpu: 1, nodeName: first! });
      const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
      await stage.setNodeSpec(first!, { taints: [unreachable] });
      await stage.startScheduler();
      const rest = await stage.createPods('gang', 2, { group: 'gang', cpu: 1 });
      await expectVerdict(stage.record, rest, { reason: 'WaitingForGang', says: ['1 of the others is on lost nodes'] });
      expectNeverBound(stage.record, rest);
      await stage.setNodeSpec(first!, { taints: null });
      await expectBound(stage.record, rest);
    },
  ),

  'capacity-taken': scenario(
    'a member that another scheduler has bound counts, and so does the capacity that it uses',
    async (stage) => {
      const [node] = await stage.addNodes({ name: 'three', allocatable: { cpu: '3' } });
      await stage.startScheduler();
      await stage.createGroup('gang', { minMember: 3 });
      const gang = await stage.createPods('gang', 2, { group: 'gang', cpu: 1 });
      await expectVerdict(stage.record, gang, { reason: 'WaitingForGang' });
      await stage.createPod('gang-theirs', { group: 'gang', cpu: 1, nodeName: node!, schedulerName: 'another' });
      await expectBound(stage.record, gang);
    },
  ),
} as const satisfies Record<string, Scenario>;

/**
 * Creates a group of three with one bound member when its scheduler dies. Before the next one starts, another scheduler takes the capacity
 * of the other two.
 */
async function partiallyBoundGang(
  stage: Stage,
  policy: { readonly repairGraceSeconds: number; readonly repairPolicy?: 'KeepTrying' },
  isControlled = true,
  podBackoff?: BackoffPolicy,
): Promise<{ gang: string[]; rivals: string[] }> {
  stage.partialForMs = 60_000;
  await stage.startController();
  const [node] = await stage.addNodes({ name: 'three', allocatable: { cpu: '3' } });
  const proxy = await stage.openProxy();
  let bindings = 0;
  proxy.fault = ({ method, path }) => {
    const isBinding = method === 'POST' && path.endsWith('/binding');
    return isBinding && ++bindings > 1 ? new Promise(() => undefined) : undefined;
  };
  const first = await stage.startScheduler({ through: proxy });
  await stage.createGroup('gang', { minMember: 3, ...policy });
  const owner: PodOwner | undefined = isControlled ? await stage.createOwner('job') : undefined;
  const gang = await stage.createPods('gang', 3, { group: 'gang', cpu: 1, ...(owner && { owner }) });
  await expectCountBound(stage.record, gang, 1);
  await expectGroupCondition(stage.record, `${stage.namespace}/gang`, {
    type: 'Incomplete',
    status: 'True',
    reason: 'PartlyScheduled',
  });
  await proxy.cut();
  await first.stop();
  const rivals = [await stage.createPod('rival', { cpu: 2, nodeName: node!, schedulerName: 'another' })];
  await stage.startScheduler({ ...(podBackoff !== undefined && { podBackoff }) });
  return { gang, rivals };
}
