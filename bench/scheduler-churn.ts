/**
 * Measures the resident memory of the built scheduler process after many pods came and went on 1,000 nodes, and its idle CPU time. The
 * benchmark creates gangs of 4 in batches on the embedded plane over HTTP, waits until they are scheduled, and deletes them. Leader election
 * and endpoints are enabled, as in production. Linux only; run `npm run build` first.
 *
 *     node bench/scheduler-churn.ts [pods = 70000] [idle seconds = 60]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { podGroupPath } from '../src/api/pod-group.ts';
import { localKubeconfig } from '../src/client/local-kubeconfig.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { openNodesPlane } from './nodes-plane.ts';
import { processUsage } from './peers/process-usage.ts';

const nodeCount = 1000;
const gangSize = 4;
/** Gangs that exist at the same time. */
const gangsAtATime = 250;
const podCount = Number(process.argv[2] ?? 70_000);
const quietSeconds = Number(process.argv[3] ?? 60);
/** Wait after the deletion of the last pod: the scheduler still writes Events, and V8 returns memory when it has not collected for 100 s. */
const settleSeconds = 120;

const plane = await openNodesPlane(nodeCount);
const { client } = plane;
const podsPath = '/api/v1/namespaces/default/pods';
const groupsPath = podGroupPath('default');

const [port] = await freePorts(1);
const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(kubeconfig, localKubeconfig(plane.url));
const child = spawn(
  'dist/cli.js', // its first line sets the flags that save memory
  [
    'scheduler',
    ...[`--kubeconfig=${kubeconfig}`, '--kube-api-qps=5000', '--kube-api-burst=10000', '--log-level=warn'],
    ...[`--secure-port=${port}`, '--bind-address=127.0.0.1'],
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);

/** Returns the resident memory in MB of 2^20 bytes. */
async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

function podOf(name: string, group: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: group, 'scheduling.x-k8s.io/pod-group': group } },
    spec: {
      schedulerName: 'tutti',
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
    },
  };
}

/** Creates a batch of gangs, waits until the last pod is bound, and deletes the batch. */
async function runBatch(number: number): Promise<void> {
  const groups = Array.from({ length: gangsAtATime }, (_, i) => `gang-${number}-${i}`);
  const names: string[] = [];
  for (const name of groups) {
    await client.create(groupsPath, {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name },
      spec: { minMember: gangSize },
    });
    for (let i = 0; i < gangSize; i++) {
      names.push(`${name}-${i}`);
      await client.create(podsPath, podOf(`${name}-${i}`, name));
    }
  }
  const last = names.at(-1)!;
  const isBound = async (): Promise<boolean> =>
    (await client.get<{ spec: { nodeName?: string } }>(`${podsPath}/${last}`)).spec.nodeName !== undefined;
  while (!(await isBound())) await sleep(20);
  await sleep(100);
  for (const name of names) await client.delete(`${podsPath}/${name}`, { gracePeriodSeconds: 0 });
  for (const name of groups) await client.delete(`${groupsPath}/${name}`);
}

try {
  const batches = Math.ceil(podCount / (gangsAtATime * gangSize));
  for (let i = 0; i < batches; i++) {
    await runBatch(i);
    if (i === 0 || (i + 1) % 10 === 0) {
      const usage = await processUsage(child.pid!);
      const pods = (i + 1) * gangsAtATime * gangSize;
      console.log(
        `${pods} pods: resident ${(await residentMb()).toFixed(0)} MB, peak ${usage.peakMb.toFixed(0)} MB, ` +
          `${(usage.cpuMs / pods).toFixed(2)} ms of CPU time per pod`,
      );
    }
  }
  await sleep(settleSeconds * 1000);
  const before = await processUsage(child.pid!);
  await sleep(quietSeconds * 1000);
  const after = await processUsage(child.pid!);
  const share = (after.cpuMs - before.cpuMs) / (quietSeconds * 10);
  console.log(
    `scheduler, ${nodeCount} nodes, after ${batches * gangsAtATime * gangSize} pods came and went and ${quietSeconds} idle seconds: ` +
      `resident ${(await residentMb()).toFixed(0)} MB, peak ${after.peakMb.toFixed(0)} MB, ` +
      `${share.toFixed(2)} % of a CPU while idle`,
  );
} finally {
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
  await rm(folder, { recursive: true, force: true });
}
// Idle connections would keep this process alive.
process.exit();
