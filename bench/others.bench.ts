/**
 * Measures attempts for pods whose placement depends on other pods: inter-pod affinity, topology spread, and the default spreading of pods
 * that a Service selects. Runs in process, on 5,000 nodes in three zones, with 20,000 pods and all default plugins. One attempt is one
 * synchronous call of the SchedulerCore. `node --expose-gc bench/others.bench.ts [part of a title]`
 */
import process from 'node:process';
import type { ListedObject } from '../src/api/listed-object.ts';
import type { PodAffinityTerm } from '../src/api/pod.ts';
import type { PodOptions } from '../src/testkit/builders/pod.ts';
import { CrowdedCore } from './crowded-core.ts';

interface Load {
  /** Members of the gang. 1 means a single pod. */
  readonly size: number;
  readonly pod: (round: number) => PodOptions;
  /** Existing pods, one on each node. */
  readonly existing?: PodOptions;
  /** Whether a Service selects `app: web`. */
  readonly hasService?: boolean;
  readonly times: number;
  /** Attempts before the measurement. */
  readonly warmUp?: number;
}

/** A scheduler makes this many attempts within its first minute. By then its code is compiled. */
const warmedUp = { times: 1_000, warmUp: 300 };

const hostname = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';
const apart = (app: string, topologyKey = hostname): PodOptions['spec'] => {
  const term: PodAffinityTerm = { labelSelector: { matchLabels: { app } }, topologyKey };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
};
const spread = (app: string, topologyKey: string, maxSkew = 1): PodOptions['spec'] => ({
  topologySpreadConstraints: [
    { maxSkew, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app } } },
  ],
});
const web = { labels: { app: 'web' } };
const small = { cpu: '500m', memory: '1Gi' };
const loads: Readonly<Record<string, Load>> = {
  'plain pod, same signature again': { size: 1, pod: () => small, times: 200 },
  'plain pod, same signature again, warmed up': { size: 1, pod: () => small, ...warmedUp },
  'plain pod, new signature': { size: 1, pod: (round) => ({ cpu: `${300 + round}m`, memory: '1Gi' }), times: 100 },
  'system-default spreading, new signature': {
    size: 1,
    pod: (round) => ({ ...web, cpu: `${300 + round}m`, memory: '1Gi' }),
    existing: web,
    hasService: true,
    times: 100,
  },
  'system-default spreading, same signature again': {
    size: 1,
    pod: () => ({ ...web, ...small }),
    existing: web,
    hasService: true,
    times: 200,
  },
  'system-default spreading, same signature again, warmed up': {
    size: 1,
    pod: () => ({ ...web, ...small }),
    existing: web,
    hasService: true,
    ...warmedUp,
  },
  'required anti-affinity by hostname, new signature': {
    size: 1,
    pod: (round) => ({ labels: { app: `mine-${round}` }, spec: apart(`mine-${round}`), cpu: `${300 + round}m` }),
    existing: { labels: { app: 'theirs' }, spec: apart('theirs') },
    times: 100,
  },
  'required anti-affinity by hostname, same signature again': {
    size: 1,
    pod: () => ({ labels: { app: 'mine' }, spec: apart('mine'), ...small }),
    existing: { labels: { app: 'theirs' }, spec: apart('theirs') },
    times: 200,
  },
  'required anti-affinity to all that exist, by hostname': {
    size: 1,
    pod: () => ({ labels: { app: 'mine' }, spec: apart('half'), ...small }),
    existing: { labels: { app: 'half' }, spec: apart('none') },
    times: 100,
  },
  'gang of 100, apart by hostname': {
    size: 100,
    pod: (round) => ({ labels: { app: `gang-${round}` }, spec: apart(`gang-${round}`), ...small }),
    times: 20,
  },
  'gang of 100, zone spread with maxSkew 1': {
    size: 100,
    pod: (round) => ({ labels: { app: `gang-${round}` }, spec: spread(`gang-${round}`, zone), ...small }),
    times: 20,
  },
  'gang of 100, system-default spreading': {
    size: 100,
    pod: () => ({ ...web, ...small }),
    hasService: true,
    times: 20,
  },
  'gang of 1,000, plain, alongside pods with anti-affinity': {
    size: 1000,
    pod: () => ({ labels: { app: 'plain' }, ...small }),
    existing: { labels: { app: 'theirs' }, spec: apart('theirs') },
    times: 9,
  },
};

/** CPU time of this thread in milliseconds. On a shared machine it is more reliable than elapsed time. */
const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const shown = (ms: number): string => ms.toFixed(3).padStart(10);

const filter = process.argv.slice(2).join(' ');
console.log(`${''.padEnd(60)}      mean    median       (ms)            mean CPU time`);
for (const [title, { size, pod, existing, hasService, times, warmUp = 5 }] of Object.entries(loads)) {
  if (!title.includes(filter)) continue;
  const crowd = new CrowdedCore();
  const { core } = crowd;
  if (hasService === true) {
    const service: ListedObject = {
      kind: 'Service',
      namespace: 'default',
      name: 'web',
      labels: {},
      selector: { matchLabels: { app: 'web' } },
    };
    core.handlers.listed.onAdd(service);
  }
  if (existing !== undefined) {
    const isEverywhere = title.includes('all that exist');
    crowd.onEachNode((index) => (isEverywhere && index % 2 === 0 ? undefined : { ...existing, cpu: '10m' }));
  }
  core.begin();
  const durations: number[] = [];
  const cpuTimes: number[] = [];
  for (let round = 0; round < times + warmUp; round++) {
    const remove = size === 1 ? crowd.lone(pod(round)) : crowd.gangOf(size, () => pod(round));
    if (round % 20 === 0) globalThis.gc?.();
    const [startedAt, cpuBefore] = [performance.now(), cpuTime()];
    const result = core.attempt();
    const [ms, cpu] = [performance.now() - startedAt, cpuTime() - cpuBefore];
    if (result?.kind !== 'planned') throw new Error(`${title}: the attempt ended ${result?.kind}`);
    if (round >= warmUp) {
      durations.push(ms);
      cpuTimes.push(cpu);
    }
    remove();
    while (core.attempt() !== undefined);
    await new Promise(setImmediate);
  }
  console.log(
    `${title.padEnd(60)}${shown(mean(durations))}${shown(median(durations))}${''.padEnd(11)}${shown(mean(cpuTimes))}`,
  );
}
process.exit(0);
