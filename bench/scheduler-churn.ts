/**
 * Resident memory of the built scheduler process after pods have come and gone on 1,000 nodes, and the processor time that it takes when nothing
 * happens: gangs of 4 are made, scheduled and deleted again, so many at a time, on the embedded plane over HTTP. With leader
 * election and endpoints, as users run it. Linux only; needs `npm run build` first.
 *
 *     node bench/scheduler-churn.ts [pods = 70000] [seconds of quiet = 60]
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
/** Gangs that are there at a time. */
const gangsAtATime = 250;
const podCount = Number(process.argv[2] ?? 70_000);
const quietSeconds = Number(process.argv[3] ?? 60);
/** After the last pod is gone: Events are still written, and V8 gives memory back when it has not collected for 100 s. */
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
  'dist/cli.js', // by its own first line, which keeps memory small
  [
    'scheduler',
    ...[`--kubeconfig=${kubeconfig}`, '--kube-api-qps=5000', '--kube-api-burst=10000', '--log-level=warn'],
    ...[`--secure-port=${port}`, '--bind-address=127.0.0.1'],
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);

/** In MB of 2^20 bytes. */
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

/** So many gangs come, are scheduled, and go. */
async function wave(number: number): Promise<void> {
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
  const waves = Math.ceil(podCount / (gangsAtATime * gangSize));
  for (let i = 0; i < waves; i++) {
    await wave(i);
    if (i === 0 || (i + 1) % 10 === 0) {
      const usage = await processUsage(child.pid!);
      const pods = (i + 1) * gangsAtATime * gangSize;
      console.log(
        `${pods} pods: resident ${(await residentMb()).toFixed(0)} MB, peak ${usage.peakMb.toFixed(0)} MB, ` +
          `${(usage.cpuMs / pods).toFixed(2)} ms of processor time a pod`,
      );
    }
  }
  await sleep(settleSeconds * 1000);
  const before = await processUsage(child.pid!);
  await sleep(quietSeconds * 1000);
  const after = await processUsage(child.pid!);
  const share = (after.cpuMs - before.cpuMs) / (quietSeconds * 10);
  console.log(
    `scheduler, ${nodeCount} nodes, after ${waves * gangsAtATime * gangSize} pods came and went and ${quietSeconds} s of quiet: ` +
      `resident ${(await residentMb()).toFixed(0)} MB, peak ${after.peakMb.toFixed(0)} MB, ` +
      `${share.toFixed(2)} % of a processor in the quiet`,
  );
} finally {
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
  await rm(folder, { recursive: true, force: true });
}
// Connections that are kept alive would keep this process alive.
process.exit();
