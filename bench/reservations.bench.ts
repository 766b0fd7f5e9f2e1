/**
 * Measures attempts while reservations stand on 1, 100 or 1,000 of 5,000 nodes, in process, with 50,000 pods and all default plugins. Another
 * scheduler's nominated pods own the reservations. `node --expose-gc bench/reservations.bench.ts [part of a title]`
 */
import process from 'node:process';
import type { PodOptions } from '../src/testkit/builders/pod.ts';
import { workAtATime } from '../src/scheduler/cycle/work-at-a-time.ts';
import { CrowdedCore } from './crowded-core.ts';

interface Load {
  /** Members of the gang. 1 means a single pod. */
  readonly size: number;
  readonly pod: (round: number) => PodOptions;
  /** Attempts per measurement. A measurement is the mean, because the system counts CPU time in steps of up to 4 ms. */
  readonly attempts: number;
}

const small: PodOptions = { cpu: '500m', memory: '1Gi' };
/** `app` is a label of the pod itself. */
const apart = (app: string, from: readonly string[]): PodOptions => {
  const labelSelector = { matchExpressions: [{ key: 'app', operator: 'In', values: [...from] }] };
  const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
  const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
  return { labels: { app }, spec, ...small };
};
const loads: Readonly<Record<string, Load>> = {
  'gang of 100, apart by hostname': { size: 100, pod: (round) => apart(`g${round}`, [`g${round}`]), attempts: 2 },
  'gang of 100, apart from the owners, too': {
    size: 100,
    pod: (round) => apart(`g${round}`, [`g${round}`, 'owner']),
    attempts: 2,
  },
  'gang of 100, identical': { size: 100, pod: () => small, attempts: 10 },
  'one pod': { size: 1, pod: () => small, attempts: 100 },
};
const reservationCounts = [0, 1, 100, 1000];
const measurements = 9;

/** CPU time of this thread in milliseconds. On a shared machine it is more reliable than elapsed time. */
const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

const filter = process.argv.slice(2).join(' ');
console.log(`${'medians of nine, ms'.padEnd(60)}  CPU time   elapsed   longest turn`);
for (const [name, { size, pod, attempts }] of Object.entries(loads)) {
  for (const count of reservationCounts) {
    const title = `${name}, ${count} reservations`;
    if (!title.includes(filter)) continue;
    const crowd = new CrowdedCore();
    const { core } = crowd;
    for (let more = 0; more < 6; more++) crowd.onEachNode((i) => ({ ...small, uid: `more-${more}-${i}` }));
    crowd.reserve(count, { ...small, labels: { app: 'owner' } });
    core.begin();
    const cpuTimes: number[] = [];
    const durations: number[] = [];
    const turns: number[] = [];
    let round = 0;
    // The first measurement is a warm-up.
    for (let i = 0; i <= measurements; i++) {
      let [cpu, elapsed, longest] = [0, 0, 0];
      globalThis.gc?.();
      for (let j = 0; j < attempts; j++) {
        const remove = size === 1 ? crowd.lone(pod(round)) : crowd.gangOf(size, () => pod(round));
        round++;
        let kind: string | undefined = 'paused';
        while (kind === 'paused') {
          const [startedAt, before] = [performance.now(), cpuTime()];
          kind = core.attempt(workAtATime)?.kind;
          cpu += cpuTime() - before;
          elapsed += performance.now() - startedAt;
          longest = Math.max(longest, performance.now() - startedAt);
        }
        if (kind !== 'planned') throw new Error(`${title}: the attempt ended ${kind}`);
        remove();
        while (core.attempt() !== undefined);
        await new Promise(setImmediate);
      }
      if (i === 0) continue;
      cpuTimes.push(cpu / attempts);
      durations.push(elapsed / attempts);
      turns.push(longest);
    }
    const columns = [cpuTimes, durations, turns].map((values) => median(values).toFixed(2).padStart(10));
    console.log(`${title.padEnd(60)}${columns.join('')}`);
  }
}
process.exit(0);
