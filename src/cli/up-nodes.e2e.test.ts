import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../base/system-clock.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import { KubeClient } from '../client/kube-client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { packageFile } from '../base/package-files.ts';
import { TestProcess } from './testing/test-process.ts';

let folder: string;
const running: TestProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-up-nodes-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill()));
});
afterAll(() => rm(folder, { recursive: true }));

function up(...parameters: readonly string[]): TestProcess {
  const process = new TestProcess(['up', ...parameters]);
  running.push(process);
  return process;
}

async function file(name: string, ...objects: readonly object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  return path;
}

/** Lists a collection on the control plane of a process. */
async function listOf(process: TestProcess, path: string): Promise<readonly any[]> {
  const [, kubeconfig] = (await process.said(/^export KUBECONFIG=(\S+)$/m)) as unknown as [string, string];
  const transport = new HttpTransport({ endpoint: await loadKubeconfig({ clock: systemClock, path: kubeconfig }) });
  try {
    return (await new KubeClient({ transport, clock: systemClock }).list(path)).items;
  } finally {
    await transport.close();
  }
}

const gpuNode = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { gpu: 'a100' } },
  spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
  status: { allocatable: { cpu: '32', 'nvidia.com/gpu': '8' }, conditions: [{ type: 'Ready', status: 'Unknown' }] },
});

/** A Job with two pods that request four GPUs each. */
const job = (spec: object = {}, annotations: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'train' },
  spec: {
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    template: {
      metadata: { annotations: { 'sim.tutti.dev/run-duration': '100ms', ...annotations } },
      spec: {
        restartPolicy: 'Never',
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'main', image: 'main', resources: { limits: { 'nvidia.com/gpu': 4 } } }],
      },
    },
    ...spec,
  },
});

describe('Nodes in the manifests of tutti up', () => {
  it('become simulated nodes with their labels, taints and resources, and replace the default nodes', async () => {
    const process = up('-f', await file('nodes.yaml', gpuNode('gpu-1')), '--node-memory', '64Gi');
    await process.said(/^control plane at \S+, 1 node with 32 CPU, 64Gi and 8 nvidia.com\/gpu each$/m);
    await process.said(/stays up until Ctrl-C/);
    expect(await listOf(process, '/api/v1/nodes')).toMatchObject([
      {
        metadata: { name: 'gpu-1', labels: { gpu: 'a100', 'kubernetes.io/hostname': 'gpu-1' } },
        spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
        status: { allocatable: { cpu: '32', memory: '64Gi', pods: '110', 'nvidia.com/gpu': '8' } },
      },
    ]);
  });

  it('are added to the nodes of --nodes', async () => {
    const nodes = await file('taken.yaml', gpuNode('node-1'));
    const process = up('-f', nodes, '--nodes', '2', '--node-resource', 'example.com/fpga=2');
    await process.said(/^control plane at \S+, 3 nodes$/m);
    await process.said(/stays up until Ctrl-C/);
    const listed = await listOf(process, '/api/v1/nodes');
    expect(listed.map(({ metadata, status }) => [metadata.name, status.allocatable['example.com/fpga']])).toEqual([
      ['node-1', '2'],
      ['node-2', '2'],
      ['node-3', '2'],
    ]);
  });

  it('run the pods of a Job, and the scenario ends with the Job', async () => {
    const process = up('--exit', '-f', await file('both.yaml', job(), gpuNode('gpu-1')));
    expect(await process.ended()).toMatchObject({ exitCode: 0 });
    expect(process.stdout).toMatch(/train-1-\S+ on gpu-1|train-1-\S+ .*gpu-1/);
    expect(process.stdout).toContain('scenario took');
  });

  it('end the command with 4 and a message if a Job fails', async () => {
    const failing = job({ backoffLimit: 0 }, { 'sim.tutti.dev/exit-code': '1' });
    const process = up('--exit', '-f', await file('failing.yaml', gpuNode('gpu-1'), failing));
    expect(await process.ended()).toMatchObject({ exitCode: 4 });
    expect(process.stdout).toMatch(/^Job train +Failed: BackoffLimitExceeded$/m);
  });

  it('are rejected by the API server with the field', async () => {
    const process = up('-f', await file('wrong.yaml', { ...gpuNode('a'), metadata: { name: 'Node_1' } }));
    expect(await process.ended()).toMatchObject({ exitCode: 1 });
    expect(process.stderr).toContain('Node Node_1: metadata.name: Invalid value: "Node_1"');
  });

  it('are rejected with --exit if the manifests contain nothing else', async () => {
    const process = up('--exit', '-f', await file('alone.yaml', gpuNode('a')));
    expect(await process.ended()).toMatchObject({ exitCode: 1 });
    expect(process.stderr).toContain('--exit requires a workload: the manifests contain only Nodes');
  });
});

describe('tutti up', () => {
  it('reads standard input with -f -, and names it in errors', async () => {
    const good = await file('input.yaml', job(), gpuNode('gpu-1'));
    const from = (path: string, ...parameters: readonly string[]): TestProcess => {
      const process = new TestProcess(['up', '--exit', ...parameters], {
        under: ['sh', '-c', `exec "$@" < '${path}'`, 'sh'],
      });
      running.push(process);
      return process;
    };
    expect(await from(good, '-f', '-').ended()).toMatchObject({ exitCode: 0 });
    const bad = from(await file('bad.yaml', { kind: 'Pod', metadata: { name: 'a' } }), '-f', '-');
    expect(await bad.ended()).toMatchObject({ exitCode: 1 });
    expect(bad.stderr).toContain('standard input, document 1, line 1: apiVersion: must be a non-empty string');
    const twice = from(good, '-f', '-', '-f', '-');
    expect(await twice.ended()).toMatchObject({ exitCode: 1 });
    expect(twice.stderr).toContain('-f - is set twice');
    const nothing = from('/dev/null', '-f', '-');
    expect(await nothing.ended()).toMatchObject({ exitCode: 1 });
    expect(nothing.stderr).toContain('standard input: no objects found');
  });

  it('creates only nodes with --empty, and shows what to do next', async () => {
    const process = up('--empty', '--nodes', '1', '--node-resource', 'nvidia.com/gpu=8');
    await process.said(/^Tutti schedules pods with schedulerName tutti or default-scheduler \(the default\)$/m);
    await process.said(/, 1 node with 2 CPU, 8Gi and 8 nvidia.com\/gpu each$/m);
    await process.said(/kubectl apply -f YOUR-JOB.yaml/);
    expect(await listOf(process, '/api/v1/pods')).toEqual([]);
  });

  it('runs everything except a scheduler with --no-scheduler, and reports it', async () => {
    const process = up('--no-scheduler', '-f', await file('waiting.yaml', job()));
    await process.said(/^no scheduler is running \(--no-scheduler\): pods stay pending/m);
    await process.said(/train-1-\S+/);
    const pods = await listOf(process, '/api/v1/pods');
    expect(pods.map(({ spec, status }) => [spec.nodeName, status.conditions])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('creates no workload with --no-scheduler and without manifests', async () => {
    const process = up('--no-scheduler');
    await process.said(/stays up until Ctrl-C/);
    expect(await listOf(process, '/api/v1/pods')).toEqual([]);
  });

  it('runs a Job of the example as a gang', async () => {
    const example = packageFile('examples', 'gpu-job');
    const process = up('-f', join(example, 'nodes.yaml'), '-f', join(example, 'train.yaml'));
    await process.said(/train +SCHEDULED +4 of 4 members bound/);
  });
});
