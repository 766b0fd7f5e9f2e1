/**
 * Measures how responsive a scheduler process stays while it decides one large gang. A gang with 1,000 pod classes arrives on 5,000 nodes of
 * the embedded plane over HTTP: first a gang that fits, then one that does not. The benchmark probes /healthz without pause and reads the
 * Lease. It also reads the stalls that the process reports. `node bench/large-attempt.ts [pod classes = 1000] [nodes = 5000]`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { podGroupPath } from '../src/api/pod-group.ts';
import { localKubeconfig } from '../src/client/local-kubeconfig.ts';
import { httpsGet } from '../src/serving/testing/https-get.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { openNodesPlane } from './nodes-plane.ts';

const [podClasses = 1_000, nodeCount = 5_000] = process.argv.slice(2).map(Number);
const podsPath = '/api/v1/namespaces/default/pods';
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tutti-scheduler';
const renewEveryMs = 500;

interface PodStatus {
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly message?: string }[] };
}

const plane = await openNodesPlane(nodeCount);
const { client } = plane;
const [port] = await freePorts(1);
const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(kubeconfig, localKubeconfig(plane.url));
const child = spawn(
  process.execPath,
  [
    'src/main.ts',
    'scheduler',
    ...[`--kubeconfig=${kubeconfig}`, '--kube-api-qps=5000', '--kube-api-burst=10000', '--log-level=warn'],
    ...[`--secure-port=${port}`, '--bind-address=127.0.0.1'],
    ...['--leader-elect-lease-duration=15s', '--leader-elect-renew-deadline=10s'],
    `--leader-elect-retry-period=${renewEveryMs}ms`,
    '--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics',
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);

const get = async (path: string): Promise<string> => (await httpsGet(`https://127.0.0.1:${port}${path}`)).text;

/** upper bound in ms -> number of stalls up to this bound */
async function stalls(): Promise<ReadonlyMap<number, number>> {
  const lines = (await get('/metrics')).matchAll(/^tutti_loop_stall_seconds_bucket\{le="([^"]+)"\} (\d+)/gm);
  return new Map(
    [...lines].map(([, bound, count]) => [Number(bound!.replace('+Inf', 'Infinity')) * 1000, Number(count)]),
  );
}

/** Returns the longest new stall in milliseconds, rounded up to a bucket. */
function longestStall(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  const more = (bound: number): number => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  return [...after.keys()].find((bound) => more(bound) === more(Infinity)) ?? Infinity;
}

async function gang(name: string, cpuOfLast: string): Promise<void> {
  for (let i = 0; i < podClasses; i++) {
    const cpu = i === podClasses - 1 ? cpuOfLast : `${400 + i}m`;
    await client.create(podsPath, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-${i}`, labels: { 'scheduling.x-k8s.io/pod-group': name } },
      spec: {
        schedulerName: 'tutti',
        containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu, memory: '1Gi' } } }],
      },
    });
  }
  await sleep(3_000);
  const before = await stalls();
  let isOver = false;
  const probes: number[] = [];
  const probing = (async () => {
    for (let begun = performance.now(); !isOver; begun = performance.now()) {
      if ((await get('/healthz')).trim() !== 'ok') throw new Error('/healthz does not return ok');
      probes.push(performance.now() - begun);
    }
  })();
  const renewals: number[] = [];
  const watching = (async () => {
    let last: string | undefined;
    for (; !isOver; await sleep(5)) {
      const { spec } = await client.get<{ spec: { renewTime: string } }>(leasePath);
      if (spec.renewTime !== last) renewals.push(performance.now());
      last = spec.renewTime;
    }
  })();
  const begun = performance.now();
  await client.create(podGroupPath('default'), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { minMember: podClasses },
  });
  for (let isDecided = false; !isDecided; await sleep(20)) {
    const first = await client.get<PodStatus>(`${podsPath}/${name}-0`);
    const condition = first.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    isDecided = first.spec.nodeName !== undefined || condition?.message?.includes('cannot start') === true;
  }
  const ms = performance.now() - begun;
  await sleep(3_000);
  isOver = true;
  await Promise.all([probing, watching]);
  const gaps = renewals.slice(1).map((at, i) => at - renewals[i]!);
  probes.sort((a, b) => a - b);
  console.log(
    `${name}: decided after ${ms.toFixed(0)} ms; ${probes.length} probes, slowest ${probes.at(-1)!.toFixed(0)} ms, ` +
      `median ${probes[probes.length >> 1]!.toFixed(1)} ms; Lease renewed after at most ${Math.max(...gaps).toFixed(0)} ms (retry period ${renewEveryMs} ms); ` +
      `no stall longer than ${longestStall(before, await stalls())} ms`,
  );
}

try {
  for (;;) {
    const isReady = await get('/readyz').then(
      (text) => text.trim() === 'ok',
      () => false,
    );
    if (isReady) break;
    if (child.exitCode !== null) throw new Error('the scheduler exited');
    await sleep(200);
  }
  await gang('fits', '1');
  await gang('does-not-fit', '17');
} finally {
  if (child.kill('SIGTERM')) await once(child, 'exit');
  await plane.close();
  await rm(folder, { recursive: true });
}
