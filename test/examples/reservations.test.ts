import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { Kubectl } from '../embedded/kubectl/kubectl-command.ts';
import { kubectlPath } from '../planes/kubectl.ts';

const [configuration, workloads] = ['examples/reservations/scheduler.yaml', 'examples/reservations/workloads.yaml'];

it('a scheduler with reservations starts a Job with a deadline and a gang with a declared run time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-reservations-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const up = new TestProcess(['up', '--no-scheduler', '--nodes', '4', '--kubeconfig', kubeconfig, '-f', workloads]);
  let scheduler: TestProcess | undefined;
  try {
    await up.said(/^export KUBECONFIG=/m);
    scheduler = new TestProcess(['scheduler', '--config', configuration, '--secure-port', '0'], {
      environment: { KUBECONFIG: kubeconfig },
    });
    await scheduler.said(/ scheduling schedulerNames=/);
    const kubectl = new Kubectl(await kubectlPath(), kubeconfig, folder);
    await kubectl.ok('wait pg/train --for=condition=Ready --timeout=1m');
    await kubectl.ok('wait pods -l job-name=sweep --for=condition=Ready --timeout=1m');
    expect(await kubectl.ok('get events --field-selector reason=InvalidRuntime')).not.toContain('InvalidRuntime');
    await kubectl.ok('annotate pods -l scheduling.x-k8s.io/pod-group=train --overwrite tutti.dev/runtime=soon');
    const events = (): Promise<string> => kubectl.ok('get events --field-selector reason=InvalidRuntime');
    await expect.poll(events).toContain('because "soon" is not a valid run time: set it to a duration');
  } finally {
    await scheduler?.kill();
    await up.kill();
    await rm(folder, { recursive: true });
  }
});
