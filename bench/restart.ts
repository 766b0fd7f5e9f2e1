/**
 * Measures how long a restarted scheduler needs on a full cluster: from the start of the process until it binds a waiting pod, on the embedded
 * plane over HTTP, with leader election. Linux only; run `npm run build` first.
 *
 *     node bench/restart.ts [bound pods = 100000] [nodes = 5000] [runs = 5]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { localKubeconfig } from '../src/client/local-kubeconfig.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { openNodesPlane } from './nodes-plane.ts';
import { processUsage } from './peers/process-usage.ts';

const [podCount = 100_000, nodeCount = 5_000, runs = 5] = process.argv.slice(2).map(Number);
const podsPath = '/api/v1/namespaces/default/pods';

const plane = await openNodesPlane(nodeCount);
const { client } = plane;

async function createPod(name: string, app: string, nodeName?: string): Promise<void> {
  await client.create(podsPath, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app } },
    spec: {
      schedulerName: 'tutti',
      ...(nodeName !== undefined && { nodeName }),
      containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '100m', memory: '256Mi' } } }],
    },
  });
}

for (let i = 0; i < podCount; i++) await createPod(`pod-${i}`, `app-${i % 1_000}`, `node-${i % nodeCount}`);

const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(kubeconfig, localKubeconfig(plane.url));
const durations: number[] = [];
try {
  for (let run = 0; run < runs; run++) {
    const name = `waits-${run}`;
    await createPod(name, 'waits');
    const [port] = await freePorts(1);
    const startedAt = performance.now();
    const child = spawn(
      'dist/cli.js', // its first line sets the flags that save memory
      [
        'scheduler',
        `--kubeconfig=${kubeconfig}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        '--log-level=warn',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    while ((await client.get<{ spec: { nodeName?: string } }>(`${podsPath}/${name}`)).spec.nodeName === undefined) {
      if (child.exitCode !== null) throw new Error(`the scheduler exited with ${child.exitCode}`);
      await sleep(5);
    }
    const ms = performance.now() - startedAt;
    durations.push(ms);
    const { cpuMs, peakMb } = await processUsage(child.pid!);
    console.log(`bound after ${ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU time, peak ${peakMb.toFixed(0)} MB`);
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  durations.sort((a, b) => a - b);
  const [minimum, median, maximum] = [durations[0]!, durations[durations.length >> 1]!, durations.at(-1)!];
  console.log(
    `${podCount} bound pods, ${nodeCount} nodes: median ${median.toFixed(0)} ms (${minimum.toFixed(0)} to ${maximum.toFixed(0)})`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
// Idle connections would keep this process alive.
process.exit();
