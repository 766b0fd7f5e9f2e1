import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import type { PodGroupStatus } from '../../src/api/pod-group.ts';
import { jobManifest } from '../../src/plane/workloads/testing/job-manifest.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { poll } from '../planes/poll.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Upstream's integration cases of the PodGroup controller, where pods are already bound and the test reports their phases; and missing labels. */
export const controller = {
  CI1: scenario('a group whose pods begin to run goes from Scheduling to Running', async (stage) => {
    const { group, pods } = await groupOfThree(stage);
    await expectPhase(stage.record, group, 'Scheduling', { running: 0, succeeded: 0, failed: 0, occupiedBy: '' });
    await report(stage, pods, 'Running');
    await expectPhase(stage.record, group, 'Running', { running: 3, succeeded: 0, failed: 0, occupiedBy: '' });
  }),

  CI2: scenario('a group whose pods succeed goes from Running to Finished', async (stage) => {
    const { group, pods } = await runningGroup(stage);
    await report(stage, pods, 'Succeeded');
    await expectPhase(stage.record, group, 'Finished', { running: 0, succeeded: 3, failed: 0, occupiedBy: '' });
  }),

  CI3: scenario('a group of which one pod has succeeded is still Running', async (stage) => {
    const { group, pods } = await runningGroup(stage);
    await report(stage, pods.slice(0, 1), 'Succeeded');
    await expectPhase(stage.record, group, 'Running', { running: 2, succeeded: 1, failed: 0, occupiedBy: '' });
  }),

  CI4: scenario('a group that loses its quorum because a pod fails is Failed', async (stage) => {
    const { group, pods } = await runningGroup(stage);
    await report(stage, pods.slice(0, 1), 'Failed');
    await expectPhase(stage.record, group, 'Failed', { running: 2, succeeded: 0, failed: 1, occupiedBy: '' });
  }),

  CI5: scenario('pods that do not name the group are not counted', async (stage) => {
    const nothing = { running: 0, succeeded: 0, failed: 0, members: 0, occupiedBy: '' };
    const { group, pods } = await groupOfThree(stage, false);
    await expectPhase(stage.record, group, 'Pending', nothing);
    await report(stage, pods, 'Running');
    // A member of another group, reported later: once it is counted, the controller has seen all earlier changes.
    const other = await stage.createGroup('other', { minMember: 1 });
    await report(
      stage,
      [await stage.createPod('other', { group: 'other', nodeName: await nodeOfStage(stage) })],
      'Running',
    );
    await expectPhase(stage.record, other, 'Running', { running: 1 });
    await expectPhase(stage.record, group, 'Pending', nothing);
    return () => {
      const phases = stage.record.podGroups.changes
        .filter(({ object }) => object.metadata.name === 'pg1-1')
        .map(({ object }) => object.status?.phase);
      if (phases.some((phase) => phase !== undefined && phase !== 'Pending')) throw new Error(phases.join(', '));
    };
  }),

  'label-on-job': scenario(
    'a Job with the label of a group, whose pods lack it, is named in the status and in an Event',
    async (stage) => {
      await stage.startController();
      const [nodeName] = await stage.addNodes({ name: 'fake-node', allocatable: { memory: '300', pods: '32' } });
      const manifest = jobManifest('train', { nodeName: nodeName!, spec: { suspend: true } }) as { metadata: object };
      const metadata = { name: 'train', labels: { [podGroupLabel]: 'red' } };
      await stage.client.create(`/apis/batch/v1/namespaces/${stage.namespace}/jobs`, { ...manifest, metadata });
      await stage.createGroup('red', { minMember: 2 });
      await expectLabelMissing(stage, `Job train has the label ${podGroupLabel}=red, but its pod template lacks it`);
      await stage.createPods('red', 2, { group: 'red', nodeName: nodeName! });
      await expectPhase(stage.record, `${stage.namespace}/red`, 'Scheduling', { members: 2, scheduled: 2 });
    },
  ),

  'wrong-key': scenario(
    'pods with the name of a group under a wrong key are named in its status and in an Event',
    async (stage) => {
      await stage.startController();
      const [nodeName] = await stage.addNodes({ name: 'fake-node', allocatable: { memory: '300', pods: '32' } });
      await stage.createGroup('red', { minMember: 2 });
      const labels = { 'pod-group.scheduling.sigs.k8s.io': 'red' };
      await stage.createPods('lost', 2, { labels, nodeName: nodeName! });
      await expectLabelMissing(
        stage,
        `pods such as lost-0 have the label pod-group.scheduling.sigs.k8s.io=red instead of ${podGroupLabel}=red`,
      );
    },
  ),
} as const satisfies Record<string, Scenario>;

/** Waits until the status of `red` and an Event say this. */
async function expectLabelMissing({ client, namespace }: Stage, text: string): Promise<void> {
  const wanted = { reason: 'LabelMissing', text };
  await poll(async () => {
    const { status } = await client.get<{ readonly status?: PodGroupStatus }>(podGroupPath(namespace, 'red'));
    const condition = status?.conditions?.find(({ type }) => type === 'Scheduled');
    const says = condition?.reason === wanted.reason && condition.message.includes(text);
    return says ? undefined : `it is ${JSON.stringify(condition)}`;
  }, `the condition says: ${text}`);
  await poll(async () => {
    const { items } = await client.list(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    const notes = (items as { readonly reason: string; readonly note: string }[])
      .filter(({ reason }) => reason === wanted.reason)
      .map(({ note }) => note);
    return notes.some((note) => note.includes(text)) ? undefined : `there are ${JSON.stringify(notes)}`;
  }, `an Event says: ${text}`);
}

async function groupOfThree(stage: Stage, labelled = true): Promise<{ group: string; pods: string[] }> {
  await stage.startController();
  const [nodeName] = await stage.addNodes({ name: 'fake-node', allocatable: { memory: '300', pods: '32' } });
  const group = await stage.createGroup('pg1-1', { minMember: 3 });
  const pods = await stage.createPods('pg1-1', 3, {
    ...(labelled && { group: 'pg1-1' }),
    memory: 50,
    priority: 'mid',
    nodeName: nodeName!,
  });
  return { group, pods };
}

async function runningGroup(stage: Stage): Promise<{ group: string; pods: string[] }> {
  const { group, pods } = await groupOfThree(stage);
  await report(stage, pods, 'Running');
  await expectPhase(stage.record, group, 'Running', { running: 3, succeeded: 0, failed: 0, occupiedBy: '' });
  return { group, pods };
}

async function report(stage: Stage, pods: readonly string[], phase: string): Promise<void> {
  for (const key of pods) await stage.setPodStatus(key, { phase });
}

async function nodeOfStage(stage: Stage): Promise<string> {
  const [node] = await stage.addNodes({ name: 'second', allocatable: { memory: '300', pods: '32' } });
  return node!;
}
