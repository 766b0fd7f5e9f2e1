import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { Kubectl } from '../embedded/kubectl/kubectl-command.ts';
import { kubectlPath } from '../planes/kubectl.ts';

/** Result of `kubectl apply` of a manifest on `tutti up`: all pods are bound, some wait, or kubectl rejects a part of it. */
type Outcome = 'runs' | 'waits' | RegExp;

const noMatches = (kind: string): RegExp => new RegExp(`no matches for kind "${kind}"`);

/** file below examples/ -> its outcome; default: `runs` */
const others: Readonly<Record<string, Outcome>> = {
  'default-scheduler/workloads.yaml': noMatches('DaemonSet'),
  'gpu-job/nodes.yaml': /^node\/gpu-1 created/,
  'jobset/jobset.yaml': noMatches('JobSet'),
  'mpijob/mpijob.yaml': noMatches('MPIJob'),
  'pytorchjob/pytorchjob.yaml': noMatches('PyTorchJob'),
  'raycluster/raycluster.yaml': noMatches('RayCluster'),
  'spark/sparkapplication.yaml': noMatches('SparkApplication'),
  'trainjob/trainjob.yaml': noMatches('TrainJob'),
  'reservations/scheduler.yaml': noMatches('KubeSchedulerConfiguration'),
  'three-profiles/scheduler.yaml': noMatches('KubeSchedulerConfiguration'),
  'random-score/pod.yaml': 'waits',
  'sample-plugin/pods.yaml': 'waits',
  'three-profiles/pods.yaml': 'waits',
  'stories/never-fits/manifests.yaml': 'waits',
  'wrong/min-member-zero.yaml': /should be greater than or equal to 1/,
  'wrong/misspelt-field.yaml': /unknown field "spec\.minMembers"/,
  'wrong/no-such-group.yaml': 'waits',
  'wrong/ordered-statefulset.yaml': 'waits',
  'wrong/too-few-members.yaml': 'waits',
  'wrong/too-large.yaml': 'waits',
  'wrong/two-schedulers.yaml': 'waits',
};
const manifests = globSync('**/*.yaml', { cwd: 'examples' }).sort();

let folder: string;
let up: TestProcess;
let kubectl: Kubectl;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-examples-'));
  const kubeconfig = join(folder, 'kubeconfig');
  up = new TestProcess(['up', '--empty', '--nodes', '4', '--kubeconfig', kubeconfig]);
  await up.said(/export KUBECONFIG=/);
  kubectl = new Kubectl(await kubectlPath(), kubeconfig, folder);
});

afterAll(async () => {
  await up?.kill();
  await rm(folder, { recursive: true, force: true });
});

it.each(manifests)('examples/%s has the listed outcome on tutti up', async (manifest) => {
  const namespace = `${basename(dirname(manifest))}-${basename(manifest, '.yaml')}`;
  await kubectl.ok(`create namespace ${namespace}`);
  const outcome = others[manifest] ?? 'runs';
  const apply = `apply -n ${namespace} -f ${process.cwd()}/examples/${manifest}`;
  if (outcome instanceof RegExp) {
    const printed = outcome.source.includes('created') ? await kubectl.ok(apply) : await kubectl.fails(apply);
    expect(printed).toMatch(outcome);
  } else {
    await kubectl.ok(apply);
    const unbound = async (): Promise<string> =>
      kubectl.ok(`get pods -n ${namespace} --field-selector spec.nodeName= -o name`);
    const pods = async (): Promise<string> => kubectl.ok(`get pods -n ${namespace} -o name`);
    await expect.poll(pods).toContain('pod/');
    if (outcome === 'runs') await expect.poll(unbound).toBe('');
    else await kubectl.fails(`wait pods --all -n ${namespace} --for=condition=PodScheduled --timeout=2s`);
  }
  await kubectl.ok(`delete namespace ${namespace}`);
  // No other example uses these nodes.
  if (manifest === 'gpu-job/train.yaml') await kubectl.ok('delete node gpu-1 gpu-2 cpu-1');
});
