/**
 * Measures complete attempts for gangs of different shapes, in process, on 5,000 nodes with 20,000 pods. The SchedulerCore pops the gang,
 * plans it, runs Permit, and passes the plan to the binding cycle or reports a rejection. Attempts yield as in a scheduler process. The
 * longest turn of the event loop is how long all other work waits. `node --expose-gc bench/gang-shapes.bench.ts [part of a title]`
 */
import process from 'node:process';
import type { Plugin } from '../src/framework/plugin.ts';
import { skip } from '../src/framework/status.ts';
import type { PodOptions } from '../src/testkit/builders/pod.ts';
import { workAtATime } from '../src/scheduler/cycle/work-at-a-time.ts';
import { CrowdedCore } from './crowded-core.ts';

interface Shape {
  readonly size: number;
  readonly member: (index: number) => PodOptions;
  readonly fits: boolean;
  /** In addition to the default plugins. */
  readonly plugins?: readonly Plugin[];
  /** Number of measurements. Lower for slow shapes. */
  readonly times?: number;
}

const same = (cpu: string) => (): PodOptions => ({ cpu, memory: '1Gi' });
const podClasses =
  (count: number) =>
  (index: number): PodOptions => ({ cpu: `${400 + (index % count)}m`, memory: '1Gi' });

const unsigned: Plugin = { name: 'Unsigned', filter: () => undefined };
const readsOthers: Plugin = { name: 'ReadsOthers', readsOtherNodes: true, filter: () => undefined };
/** A plugin that reads other nodes but skips these pods. */
const alwaysSkips: Plugin = {
  name: 'AlwaysSkips',
  readsOtherNodes: true,
  preFilter: () => skip,
  filter: () => undefined,
};

const shapes: Readonly<Record<string, Shape>> = {
  '1 pod': { size: 1, member: same('500m'), fits: true, times: 50 },
  '100 identical': { size: 100, member: same('500m'), fits: true, times: 20 },
  '1,000 identical': { size: 1000, member: same('500m'), fits: true },
  '5,000 identical': { size: 5000, member: same('500m'), fits: true },
  '20,000 identical': { size: 20_000, member: same('500m'), fits: true, times: 3 },
  // 4,500 nodes have no taint, and most fit three.
  '20,000 identical, too many': { size: 20_000, member: same('7'), fits: false, times: 3 },
  '5,000 identical, too big for any node': { size: 5000, member: same('33'), fits: false },
  // 4,500 nodes have no taint, and each fits one pod.
  '4,501 identical, one too many': { size: 4501, member: same('18'), fits: false },
  '4,501 in 10 pod classes, one too many': {
    size: 4501,
    member: (index) => ({ cpu: `${18_000 + (index % 10)}m`, memory: '1Gi' }),
    fits: false,
    times: 5,
  },
  '1,000 in 10 pod classes': { size: 1000, member: podClasses(10), fits: true },
  '1,000 in 100 pod classes': { size: 1000, member: podClasses(100), fits: true, times: 5 },
  '1,000 in 1,000 pod classes': { size: 1000, member: podClasses(1000), fits: true, times: 3 },
  '1,000 in 1,000 pod classes, the last too big': {
    size: 1000,
    member: (index) => (index === 999 ? { cpu: 33, memory: '1Gi' } : podClasses(1000)(index)),
    fits: false,
    times: 3,
  },
  // The pool has 500 nodes, each of which fits one member.
  '1,000 in 1,000 pod classes, infeasible': {
    size: 1000,
    member: (index) => ({ cpu: `${15_500 + index}m`, memory: '1Gi', nodeSelector: { pool: 'p1' } }),
    fits: false,
    times: 3,
  },
  '5,000 in 1,000 pod classes': { size: 5000, member: podClasses(1000), fits: true, times: 3 },
  '1,000 identical, a Filter without sign': {
    size: 1000,
    member: same('500m'),
    fits: true,
    plugins: [unsigned],
    times: 3,
  },
  '1,000 identical, fifteen Filters without sign': {
    size: 1000,
    member: same('500m'),
    fits: true,
    plugins: Array.from({ length: 15 }, (_, i) => ({ name: `Unsigned${i}`, filter: () => undefined })),
    times: 3,
  },
  '100 identical, a Filter that reads other nodes': {
    size: 100,
    member: same('500m'),
    fits: true,
    plugins: [readsOthers],
    times: 5,
  },
  '1,000 identical, a Filter that reads other nodes and skips': {
    size: 1000,
    member: same('500m'),
    fits: true,
    plugins: [alwaysSkips],
  },
};

const megabytes = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
};

/** CPU time of this thread in milliseconds. On a shared machine it is more reliable than elapsed time. */
const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const summary = (values: number[]): string => {
  values.sort((a, b) => a - b);
  return [values[0]!, values[values.length >> 1]!, values.at(-1)!].map((ms) => ms.toFixed(1).padStart(8)).join('');
};

/** Elapsed time and CPU time of a turn of the event loop, in milliseconds. */
interface Turn {
  readonly ms: number;
  readonly cpu: number;
}

interface Attempt {
  readonly kind: string;
  readonly turns: readonly Turn[];
}

/** Makes the next attempt as a scheduler process does, until the Bindings of the plan have started. The last turns start them. */
async function attempt(crowd: CrowdedCore, size: number): Promise<Attempt> {
  const { core, bindings } = crowd;
  const turns: Turn[] = [];
  const turn = async <T>(work: () => T): Promise<T> => {
    const [startedAt, cpuBefore] = [performance.now(), cpuTime()];
    // What the work defers runs after this, in a turn of its own.
    const ended = new Promise(setImmediate);
    const result = work();
    await ended;
    turns.push({ ms: performance.now() - startedAt, cpu: cpuTime() - cpuBefore });
    return result;
  };
  for (;;) {
    const kind = (await turn(() => core.attempt(workAtATime)))?.kind;
    if (kind === 'paused') continue;
    while (kind === 'planned' && crowd.bindings < bindings + size) await turn(() => undefined);
    return { kind: String(kind), turns };
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const filter = process.argv.slice(2).join(' ');
/** plugins -> core with these plugins */
const cores = new Map<Shape['plugins'], CrowdedCore>();
console.log(
  [
    'minimum, median, maximum'.padEnd(60),
    'CPU time, ms'.padStart(24),
    'turns'.padStart(8),
    'longest turn, ms'.padStart(24),
    'its CPU time, ms'.padStart(24),
    'MB retained'.padStart(10),
  ].join(''),
);
for (const [title, { size, member, fits, plugins = [], times = 9 }] of Object.entries(shapes)) {
  if (!title.includes(filter)) continue;
  const known = [...cores.keys()].find((others) => others!.every((plugin, i) => plugin === plugins[i]));
  const crowd = (known?.length === plugins.length ? cores.get(known) : undefined) ?? new CrowdedCore({ plugins });
  cores.set(plugins, crowd);
  const { core } = crowd;
  core.begin();
  const works: number[] = [];
  const longest: number[] = [];
  const hardest: number[] = [];
  let count = 0;
  let retained = 0;
  for (let round = 0; round <= times; round++) {
    const gang = crowd.gang(size, member);
    globalThis.gc?.();
    const before = megabytes();
    const { kind, turns } = await attempt(crowd, size);
    globalThis.gc?.();
    // The first round is a warm-up.
    if (round > 0) {
      works.push(sum(turns.map((turn) => turn.cpu)));
      longest.push(Math.max(...turns.map(({ ms }) => ms)));
      hardest.push(Math.max(...turns.map((turn) => turn.cpu)));
    }
    count = turns.length;
    retained = Math.max(retained, megabytes() - before);
    if ((kind === 'planned') !== fits) throw new Error(`${title}: the attempt ended ${kind}`);
    crowd.remove(gang);
    while (core.attempt() !== undefined);
    await new Promise(setImmediate);
  }
  const columns = [summary(works), String(count).padStart(8), summary(longest), summary(hardest)];
  console.log(`${title.padEnd(60)}${columns.join('')}${retained.toFixed(1).padStart(10)}`);
}
process.exit(0);
