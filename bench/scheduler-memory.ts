/**
 * Measures the peak resident memory (VmHWM) of the built scheduler process with 1,000 nodes and 2,000 pods, after 60 s. It schedules half of
 * the pods; the others are already bound. Linux only; run `npm run build` first.
 *
 *     node bench/scheduler-memory.ts [seconds]
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localKubeconfig } from '../src/client/local-kubeconfig.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { openNodesPlane } from './nodes-plane.ts';

const nodeCount = 1000;
const podCount = 2000;
const seconds = Number(process.argv[2] ?? 60);

const plane = await openNodesPlane(nodeCount);
const { client } = plane;
for (let i = 0; i < podCount; i++) {
  const isBound = i % 2 === 0;
  await client.create('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${i}`, labels: { app: `app-${i % 50}` } },
    spec: {
      schedulerName: 'tutti',
      ...(isBound && { nodeName: `node-${i % nodeCount}` }),
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
    },
  });
}

const [port] = await freePorts(1);
const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(kubeconfig, localKubeconfig(plane.url));
const child = spawn(
  'dist/cli.js', // its first line limits the young generation
  [
    'scheduler',
    '--kubeconfig',
    kubeconfig,
    '--scheduler-name',
    'tutti',
    '--secure-port',
    String(port),
    '--bind-address',
    '127.0.0.1',
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
try {
  await sleep(seconds * 1000);
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  const pods = await client.list('/api/v1/pods');
  const bound = pods.items.filter((pod) => (pod as { spec: { nodeName?: string } }).spec.nodeName !== undefined).length;
  console.log(
    `scheduler, ${nodeCount} nodes, ${podCount} pods (${bound} bound), after ${seconds} s: ` +
      `peak ${peak.toFixed(0)} MB (VmHWM), now ${resident.toFixed(0)} MB`,
  );
} finally {
  child.kill('SIGTERM');
  await plane.close();
  await rm(folder, { recursive: true, force: true });
}
