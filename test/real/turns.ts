import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toKubernetesTime } from '../../src/api/kubernetes-time.ts';
import type { TestProcess } from '../../src/cli/testing/test-process.ts';
import { expectNeverBound } from '../expect/expect-bound.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { schedulerName } from '../scenarios/pod-manifest.ts';
import { onStage } from './on-stage.ts';
import { report } from './report.ts';
import { electionFlags } from './takeovers.ts';
import type { ElectionTimes } from './takeovers.ts';

/** What a leader must do within this time. */
const withinMs = 45_000;

/** The leader is killed when a gang has its turn. The next leader gives it to the same gang, with the same predicted start. */
export function turnAfterLeaderChange(plane: RealPlane, times: ElectionTimes): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti, addNodes } = setting;
    const { record, namespace } = stage;
    await addNodes({ name: 'busy', allocatable: { cpu: '4' } }, { name: 'free', allocatable: { cpu: '4' } });
    const running = await stage.createPod('running', { cpu: 4, nodeName: 'busy', deadline: 600 });
    await stage.setPodStatus(running, { phase: 'Running', startTime: toKubernetesTime(Date.now()) });
    const config = join(plane.folder, `turns-${namespace}.json`);
    await writeFile(config, JSON.stringify(configuration(plane.kubeconfigPath)));
    const options = { election: electionFlags(setting, times), parameters: ['--config', config] };
    const first = await tutti.startScheduler(options);
    const second = await tutti.startStandby(options);

    await stage.createGroup('gang', { minMember: 2 });
    const gang = await stage.createPods('gang', 2, { group: 'gang', cpu: 4 });
    const before = await turnGivenBy(first);
    expect(before.entity).toBe(`gang/${namespace}/gang`);
    const late = await stage.createPod('late', { cpu: 4 });
    await expectVerdict(record, [late], { reason: 'WaitingForTurn' });

    const killedAt = performance.now();
    await tutti.kill(first);
    const after = await turnGivenBy(second);
    const afterMs = performance.now() - killedAt;
    expect(after).toEqual(before);
    expect(afterMs).toBeLessThan(withinMs);
    report(`leader killed during a turn: the next one gave it to the same gang ${(afterMs / 1000).toFixed(1)} s later`);
    expectNeverBound(record, [...gang, late]);
  });
}

function configuration(kubeconfig: string): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig },
    profiles: [{ schedulerName, reservations: { enabled: true, reserveAfterSeconds: 1 } }],
  };
}

/** Resolves with the first turn that the scheduler gives: to whom, and when it starts. */
async function turnGivenBy(scheduler: TestProcess): Promise<{ readonly entity?: string; readonly startsBy?: string }> {
  const [line] = await scheduler.said(/^\{.*"message":"reserved capacity for an entity that waits".*\}$/m);
  const { entity, startsBy } = JSON.parse(line) as { readonly entity?: string; readonly startsBy?: string };
  return { ...(entity !== undefined && { entity }), ...(startsBy !== undefined && { startsBy }) };
}
