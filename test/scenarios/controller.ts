import { expectPhase } from '../expect/expect-phase.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Upstream's integration cases of the PodGroup controller: pods are already bound, and the test reports their phases. */
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
} as const satisfies Record<string, Scenario>;

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
