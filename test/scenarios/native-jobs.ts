import { expect } from 'vitest';
import { nativePodGroupPath } from '../../src/api/native-pod-group.ts';
import { poll } from '../planes/poll.ts';
import { JobStage } from './job-stage.ts';
import type { PodSeen } from './job-stage.ts';
import { schedulerName } from './pod-manifest.ts';
import { scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** A pod of the gang takes almost half of a node with 64 CPUs. */
const memberOf = {
  schedulerName,
  nodeName: undefined,
  containers: [{ name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu: '30' } } }],
};
const gangOf = (count: number): object => ({
  completionMode: 'Indexed',
  completions: count,
  parallelism: count,
  scheduling: { schedulingPolicy: { gang: { minCount: count } } },
});

interface GroupSeen {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly schedulingPolicy: object };
}

/** Returns the PodGroups in the namespace of the stage. */
async function groupsOf({ client, namespace }: Stage): Promise<readonly GroupSeen[]> {
  const { items } = await client.list(nativePodGroupPath('v1beta1'));
  return (items as (GroupSeen & { readonly metadata: { readonly namespace: string } })[]).filter(
    ({ metadata }) => metadata.namespace === namespace,
  );
}

/** Resolves with the only PodGroup of the namespace, which is not `previous`. */
async function untilGroup(stage: Stage, previous?: GroupSeen): Promise<GroupSeen> {
  let found: GroupSeen | undefined;
  await poll(async () => {
    const groups = await groupsOf(stage);
    found = groups.length === 1 && groups[0]!.metadata.uid !== previous?.metadata.uid ? groups[0] : undefined;
    return found === undefined ? `there are ${groups.length}` : undefined;
  }, 'the Job has its PodGroup');
  return found!;
}

const namesOf = (pods: readonly PodSeen[]): string[] => pods.map(({ metadata }) => metadata.name);

/** Jobs that create their PodGroups themselves, under kube-controller-manager with the feature gate WorkloadWithJob. */
export const nativeJobs = {
  NJ1: scenario(
    'a Job with gang scheduling of its own starts as a whole, is retried, suspended and resumed',
    async (stage) => {
      const jobs = await JobStage.open(stage);
      await stage.startScheduler();
      await jobs.create('train', { pod: memberOf, spec: { ...gangOf(3), backoffLimit: 6 } });
      const group = await untilGroup(stage);
      expect(group.spec.schedulingPolicy).toEqual({ gang: { minCount: 3 } });
      const key = `scheduling.k8s.io/${stage.namespace}/${group.metadata.name}`;
      await jobs.untilPods('train', 'three pods have a verdict', (pods) => {
        const verdicts = pods.map(
          ({ status }) => status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message,
        );
        return (
          pods.length === 3 && verdicts.every((verdict) => verdict?.startsWith(`PodGroup ${key} cannot start: 2 of 3`))
        );
      });
      // The Job's first node has capacity for two.
      await stage.addSimulatedNodes({ name: 'second', allocatable: { cpu: '64', memory: '64Gi' } });
      const [first, second] = await jobs.untilRunning('train', 3);

      // A completed sibling counts: kube-scheduler would let the retry wait for ever.
      await jobs.end(first!, 'Succeeded');
      await jobs.untilStatus('train', { succeeded: 1 });
      await jobs.end(second!, 'Failed');
      const retried = await jobs.untilPods('train', 'the retry runs', (pods) => {
        const running = pods.filter(({ status }) => status?.phase === 'Running');
        return (
          running.length === 2 &&
          pods.some(({ metadata }) => metadata.name.startsWith('train-1-') && metadata.name !== second!.metadata.name)
        );
      });
      expect(namesOf(retried)).toContain(first!.metadata.name);

      await jobs.patch('train', { suspend: true });
      await jobs.untilCondition('train', 'Suspended');
      await jobs.untilPods('train', 'no pod runs', (pods) => pods.every(({ status }) => status?.phase !== 'Running'));
      await jobs.patch('train', { suspend: false });
      await jobs.untilStatus('train', { active: 2, ready: 2, succeeded: 1 });
    },
  ),

  NJ2: scenario('a Job that asks for no gang gets a basic group, and its pods start one by one', async (stage) => {
    const jobs = await JobStage.open(stage);
    await stage.startScheduler();
    await jobs.create('batch', { pod: memberOf, spec: { completions: 3, parallelism: 3 } });
    const group = await untilGroup(stage);
    expect(group.spec.schedulingPolicy).toEqual({ basic: {} });
    await jobs.untilPods('batch', 'two of three pods run', (pods) => {
      return pods.length === 3 && pods.filter(({ status }) => status?.phase === 'Running').length === 2;
    });
  }),

  NJ3: scenario('a label makes the pods of a Job a gang, although the Job has a basic group', async (stage) => {
    const jobs = await JobStage.open(stage);
    await stage.startScheduler();
    await stage.createGroup('labeled', { minMember: 3 });
    const labels = { 'scheduling.x-k8s.io/pod-group': 'labeled' };
    await jobs.create('batch', { pod: memberOf, labels, spec: { completions: 3, parallelism: 3 } });
    await untilGroup(stage);
    const verdict = `PodGroup ${stage.namespace}/labeled cannot start: 2 of 3`;
    await jobs.untilPods('batch', 'three pods wait as a gang', (pods) => {
      const verdicts = pods.map(
        ({ status }) => status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message,
      );
      return pods.length === 3 && verdicts.every((text) => text?.startsWith(verdict));
    });
    await stage.addSimulatedNodes({ name: 'second', allocatable: { cpu: '64', memory: '64Gi' } });
    await jobs.untilRunning('batch', 3);
  }),
};
