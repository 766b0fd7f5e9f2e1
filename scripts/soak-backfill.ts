// Keeps a cluster loaded for a long time with Jobs that declare how long they run, with reservations enabled: real kube-apiserver and
// kube-controller-manager, nodes of kwok. Checks that no pod or group starts after its bound, and reports how the memory of the scheduler
// grows: `npm run soak:backfill -- --minutes 240`. Exits with 1 if there are problems. The first run builds the programs with Go.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import { seededRandom } from '../src/base/random.ts';
import { podGroupPath } from '../src/api/pod-group.ts';
import { wholeNumber } from '../src/cli/flag-values.ts';
import { Recording } from '../test/expect/recording.ts';
import type { WatchedPod, WatchedPodGroup } from '../test/expect/watched.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import { freePorts } from '../test/planes/real/ports.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';
import type { RealPlane } from '../test/planes/real/real-plane.ts';
import { JobLoad } from '../test/real/backfill/job-load.ts';
import { MemoryReadings } from '../test/real/backfill/memory-readings.ts';
import type { MemoryReading } from '../test/real/backfill/memory-readings.ts';
import { TurnJudge } from '../test/real/backfill/turn-judge.ts';
import type { Turn } from '../test/real/backfill/turn-judge.ts';
import { Installation } from '../test/real/installation.ts';
import { schedulerName } from '../test/scenarios/pod-manifest.ts';

interface Flags {
  readonly minutes: number;
  readonly seed: number;
  readonly nodes: number;
  readonly load: number;
}

const cpuPerNode = 8;
const reserveAfterSeconds = 5;
/** Time between two readings of the memory. */
const readEveryMs = 30_000;
/** How long the last Jobs may take to start and end. */
const drainMs = 1_800_000;
/** A scheduler collects its garbage after half a minute without work. */
const idleMs = 120_000;

const flags = new Command('soak:backfill')
  .description('Load a cluster with Jobs of known run times on a real API server, and check when each of them starts.')
  .option('--minutes <count>', 'How long to create Jobs.', wholeNumber(1), 240)
  .option('--seed <number>', 'Seed of the Jobs.', wholeNumber(0), 1)
  .option('--nodes <count>', `Number of nodes, of ${cpuPerNode} CPUs each.`, wholeNumber(16), 32)
  .option('--load <percent>', 'Requested CPU time in percent of the CPUs.', wholeNumber(1), 95)
  .parse()
  .opts<Flags>();

const programs = await provideBinaries(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kwok'], {
  mayBuild: true,
});
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(3);
}
const plane = await openRealPlane({ paths: programs.paths, controllerManager: true, kwok: true });
let problems: readonly string[];
try {
  problems = await soak(plane);
} finally {
  await plane.stop();
}
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? 'no violation' : `${problems.length} violations; repeat with --seed ${flags.seed}`);
process.exit(problems.length === 0 ? 0 : 1);

async function soak(on: RealPlane): Promise<readonly string[]> {
  const { client, folder, kubeconfigPath, version } = on;
  const { nodes, load, seed, minutes } = flags;
  console.log(
    `Kubernetes ${version}, ${nodes} nodes of ${cpuPerNode} CPUs, load ${load} %, seed ${seed}, ${minutes} min`,
  );
  await on.addNodes(
    Array.from({ length: nodes }, (_, index) => ({ name: `node-${index}`, allocatable: { cpu: cpuPerNode } })),
  );
  const tutti = new Installation(on);
  const [port] = await freePorts(1);
  const config = join(folder, 'tutti.json');
  await writeFile(config, JSON.stringify(configuration(kubeconfigPath)));
  const allowed = '--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics';
  const scheduler = await tutti.startScheduler({
    parameters: ['--config', config, '--secure-port', String(port), allowed],
    savesMemory: true,
  });
  await tutti.startController();

  const groups = await Recording.open<WatchedPodGroup>(client, podGroupPath(), () => shorten(groups));
  const sizeOf = (name: string): number | undefined => groups.current.get(`default/${name}`)?.spec?.minMember;
  const judge = new TurnJudge({ sizeOf, reserveAfterMs: reserveAfterSeconds * 1000 });
  const pods = await Recording.open<WatchedPod>(client, '/api/v1/pods', () => {
    for (const { type, object } of shorten(pods)) judge.podChanged(type, object, Date.now());
  });
  const jobs = new JobLoad({
    ...{ client, namespace: 'default', random: seededRandom(seed) },
    ...{ cpu: nodes * cpuPerNode, load: load / 100, waiting: () => judge.waiting, maxWaiting: 100 },
  });
  const memory = new MemoryReadings(scheduler.pid!, port!);
  const startedAt = Date.now();
  let readAt = 0;
  let shown = 0;
  const watchUntil = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      judge.tick(Date.now());
      const started = judge.turns.filter((turn) => turn.startedAt !== undefined);
      for (const turn of started.slice(shown)) console.log(lineOf(turn));
      shown = started.length;
      const failure = pods.failure ?? groups.failure;
      if (failure !== undefined) throw failure;
      if (Date.now() < readAt + readEveryMs) continue;
      readAt = Date.now();
      const { residentMb, heapMb } = await memory.read();
      console.log(
        `${Math.round((readAt - startedAt) / 1000)} s: resident ${residentMb.toFixed(0)} MB, heap ${heapMb.toFixed(0)} MB, ` +
          `${jobs.created} jobs (${jobs.held} late), ${judge.waiting} wait, ${judge.turns.length} turns, ${judge.problems.length} problems`,
      );
    }
  };
  const before = await memory.read();
  jobs.start();
  await watchUntil(() => Date.now() >= startedAt + minutes * 60_000);
  await jobs.stop();
  const elapsedMs = Date.now() - startedAt;
  const usage = judge.usedCpuMs(Date.now()) / (elapsedMs * nodes * cpuPerNode);
  const underLoad = [...memory.all];
  const endedAt = Date.now();
  await watchUntil(() => pods.current.size === 0 || Date.now() >= endedAt + drainMs);
  judge.end(Date.now());
  const idleAt = Date.now();
  await watchUntil(() => Date.now() >= idleAt + idleMs);
  report({ judge, jobs, usage, before, underLoad, after: await memory.read() });
  await Promise.all([pods.close(), groups.close()]);
  return [...judge.problems, ...(await tutti.stop())];
}

function configuration(kubeconfig: string): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: 200, burst: 400 },
    leaderElection: { leaderElect: false },
    profiles: [{ schedulerName, reservations: { enabled: true, reserveAfterSeconds } }],
  };
}

/** Returns the changes so far, and forgets them: the record of hours would fill the memory. */
function shorten<T>({ changes }: { readonly changes: T[] }): T[] {
  return changes.splice(0);
}

function lineOf({ entity, pods, readyAt, at, predicted, latestEnd, startedAt, bound }: Turn): string {
  const after = (ms: number): string => `${((ms - at) / 1000).toFixed(0)} s`;
  const prediction = predicted === undefined ? 'unknown' : after(predicted);
  return (
    `turn of ${entity} (${pods} ${pods === 1 ? 'pod' : 'pods'}) at ${new Date(at).toISOString()}, ready ${after(readyAt)}, predicted ${prediction}, ` +
    `started ${after(startedAt!)}, latest end ${after(latestEnd)}, bound ${after(bound)}`
  );
}

interface Outcome {
  readonly judge: TurnJudge;
  readonly jobs: JobLoad;
  /** Used CPU time as a share of all. */
  readonly usage: number;
  readonly before: MemoryReading;
  readonly underLoad: readonly MemoryReading[];
  readonly after: MemoryReading;
}

function report({ judge, jobs, usage, before, underLoad, after }: Outcome): void {
  const started = judge.turns.flatMap((turn) =>
    turn.startedAt === undefined ? [] : [{ ...turn, startedAt: turn.startedAt }],
  );
  const late = started.flatMap(({ startedAt, predicted }) => (predicted === undefined ? [] : [startedAt - predicted]));
  const waits = (least: number, most: number): string =>
    spread(judge.waits.flatMap(({ size, ms }) => (size >= least && size <= most ? [ms] : [])));
  const quarter = (index: number): string => {
    const part = underLoad.slice(
      Math.floor((underLoad.length * index) / 4),
      Math.ceil((underLoad.length * (index + 1)) / 4),
    );
    const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
    return shown({
      residentMb: median(part.map(({ residentMb }) => residentMb)),
      heapMb: median(part.map(({ heapMb }) => heapMb)),
    });
  };
  console.table({
    'jobs created': jobs.created,
    'jobs created late, because 100 others waited': jobs.held,
    'used CPU time, %': (100 * usage).toFixed(1),
    turns: judge.turns.length,
    'turns that ended in a start': started.length,
    'starts after the first prediction': late.filter((ms) => ms > 0).length,
    'start minus first prediction': spread(late),
    'time left until the bound': spread(started.map(({ bound, startedAt }) => bound - startedAt)),
    'wait of single pods': waits(1, 1),
    'wait of gangs of 2 to 7': waits(2, 7),
    'wait of gangs of 8 to 16': waits(8, 16),
    'first in order without a turn, at most': `${(judge.longestFirstMs / 1000).toFixed(0)} s`,
    'pods that ran for longer than declared': judge.overruns,
    'memory of the scheduler before the load': shown(before),
    'first quarter of the load, median': quarter(0),
    'second quarter': quarter(1),
    'third quarter': quarter(2),
    'last quarter': quarter(3),
    'idle after the load': shown(after),
    'starts after the bound, and other problems': judge.problems.length,
  });
}

/** Returns minimum, median, 99th percentile and maximum of these milliseconds. */
function spread(values: readonly number[]): string {
  if (values.length === 0) return 'none';
  const sorted = values.toSorted((a, b) => a - b);
  const [min, median, p99, max] = [0, 0.5, 0.99, 1].map(
    (share) => `${(sorted[Math.floor(share * (sorted.length - 1))]! / 1000).toFixed(1)} s`,
  );
  return `${min} to ${max}, median ${median}, 99 % ${p99}`;
}

function shown({ residentMb, heapMb }: MemoryReading): string {
  return `${residentMb.toFixed(0)} MB resident, ${heapMb.toFixed(0)} MB heap`;
}
