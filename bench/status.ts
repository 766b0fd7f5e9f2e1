/**
 * How long `tutti status -A` takes in a cluster with many pod groups: a process from its start to its end, with an API server in this process
 * that has all pages ready. `node bench/status.ts [groups] [members of each] [rounds] [file of the command]`
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { podGroupPath } from '../src/api/pod-group.ts';
import { Builders } from '../src/testkit/builders/builders.ts';

const groupCount = Number(process.argv[2] ?? 10_000);
const memberCount = Number(process.argv[3] ?? 5);
const rounds = Number(process.argv[4] ?? 9);
const command = process.argv[5] ?? fileURLToPath(new URL('../src/main.ts', import.meta.url));
const pageSize = 500;
const namespaces = 50;

const build = new Builders();
const message =
  'PodGroup cannot start: 2 of 5 members would fit; train-3 would not: 0/5000 nodes are available: ' +
  '12 node(s) were unschedulable, 4488 Insufficient cpu, 500 Insufficient nvidia.com/gpu. It needs 24 more nvidia.com/gpu; 8 free, 40 in total.';
const unschedulable = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const isRunning = (group: number): boolean => group % 2 === 0;
const names = (group: number): { readonly name: string; readonly namespace: string } => ({
  name: `train-${group}`,
  namespace: `team-${group % namespaces}`,
});
const groups = Array.from({ length: groupCount }, (_, i) => build.podGroup({ ...names(i), minMember: memberCount }));
const pods = Array.from({ length: groupCount * memberCount }, (_, i) => {
  const group = Math.floor(i / memberCount);
  const { name, namespace } = names(group);
  return build.pod({
    name: `${name}-${i % memberCount}`,
    namespace,
    group: name,
    cpu: 4,
    memory: '16Gi',
    ...(isRunning(group) ? { nodeName: `node-${i % 5000}` } : { conditions: [unschedulable] }),
  });
});

/** path -> its pages, serialized */
const lists = new Map<string, readonly Buffer[]>([
  [podGroupPath(), pagesOf('PodGroupList', groups)],
  ['/api/v1/pods', pagesOf('PodList', pods)],
]);

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
  const page = lists.get(pathname)?.[Number(searchParams.get('continue') ?? 0)];
  response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(
    page ?? JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }),
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
const kubeconfig = join(folder, 'kubeconfig.json');
await writeFile(kubeconfig, JSON.stringify(kubeconfigOf((server.address() as AddressInfo).port)));

/** Writes the processor time of the process to file 3 when it exits. */
const reporting = `import { writeSync } from 'node:fs';
process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(3, String((user + system) / 1e6)); });`;
const seconds: number[] = [];
const processorSeconds: number[] = [];
for (let round = 0; round <= rounds; round++) {
  const from = performance.now();
  const parameters = [command, 'status', '-A', '--kubeconfig', kubeconfig];
  const report = ['--import', `data:text/javascript,${encodeURIComponent(reporting)}`];
  const child = spawn(process.execPath, [...report, ...parameters], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  const [printed, used] = await Promise.all([text(child.stdout!), text(child.stdio[3] as Readable)]);
  if (child.exitCode === null) await once(child, 'exit');
  const lines = printed.split('\n').length;
  if (child.exitCode !== 0 || lines < groupCount) throw new Error(`exit code ${child.exitCode}, ${lines} lines`);
  // The first round warms up.
  if (round === 0) continue;
  seconds.push((performance.now() - from) / 1000);
  processorSeconds.push(Number(used));
}
server.close();
await rm(folder, { recursive: true });
console.log(`tutti status -A, ${groupCount} groups, ${pods.length} pods, ${rounds} rounds; seconds`);
console.log(`elapsed: ${summary(seconds)}`);
console.log(`of processors: ${summary(processorSeconds)}`);

function summary(values: readonly number[]): string {
  const sorted = values.toSorted((x, y) => x - y);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  return `median ${median.toFixed(2)} (${sorted[0]!.toFixed(2)}-${sorted.at(-1)!.toFixed(2)})`;
}

function pagesOf(kind: string, items: readonly object[]): readonly Buffer[] {
  return Array.from({ length: Math.max(1, Math.ceil(items.length / pageSize)) }, (_, i) => {
    const isLast = (i + 1) * pageSize >= items.length;
    const metadata = { resourceVersion: '1', ...(!isLast && { continue: String(i + 1) }) };
    const page = items.slice(i * pageSize, (i + 1) * pageSize);
    return Buffer.from(JSON.stringify({ kind, apiVersion: 'v1', metadata, items: page }));
  });
}

function kubeconfigOf(port: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    clusters: [{ name: 'bench', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'bench', user: {} }],
  };
}
