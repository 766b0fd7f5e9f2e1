/**
 * Measures what the record of the timeline costs without clients. In each round, 1,000 pods come, are planned, bound and end, half of them
 * in gangs: the watch handlers, the attempts and the outcomes of Bindings, without an API server. Rounds with the record and without it alternate;
 * the order within each pair does, too. Prints the medians of the rounds, and the median of the ratios of the pairs.
 *
 *     node bench/timeline.ts [nodes] [pairs]
 */
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pod } from '../src/api/pod.ts';
import { seededRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { createMetricRegistry } from '../src/observability/metric-registry.ts';
import { silentLogger } from '../src/observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../src/plugins/registry.ts';
import { gangSpecOf } from '../src/scheduler/intake/pod-group-adapter.ts';
import { SchedulerCore } from '../src/scheduler/scheduler-core.ts';
import { Timeline } from '../src/scheduler/timeline/timeline.ts';
import { Builders } from '../src/testkit/builders/builders.ts';

const nodeCount = Number(process.argv[2] ?? 1_000);
const pairs = Number(process.argv[3] ?? 40);
const podsAtATime = 1_000;
const members = 10;

/** uid -> pod as the watch has shown it */
const shown = new Map<string, Pod>();
const echoes: Pod[] = [];
/** Whether the record is kept now. */
let isOn = true;
for (const name of ['podChanged', 'groupChanged', 'planned', 'rejected'] as const) {
  const prototype = Timeline.prototype as unknown as Record<string, (...values: readonly unknown[]) => void>;
  const method = prototype[name]!;
  prototype[name] = function (this: Timeline, a, b): void {
    if (isOn) method.call(this, a, b);
  };
}

const core = new SchedulerCore({
  profiles: [{ schedulerName: 'default-scheduler', plugins: defaultPlugins }],
  plugins: pluginRegistry,
  ports: {
    binder: {
      bind: ({ uid, nodeName }) => {
        echoes.push({ ...shown.get(uid)!, nodeName });
        return Promise.resolve();
      },
    },
    verdicts: { write: () => Promise.resolve('written') },
    events: { record: () => undefined },
    evictor: {
      mark: () => Promise.resolve(true),
      unmark: () => Promise.resolve(),
      evict: () => Promise.resolve(),
      release: () => Promise.resolve('going'),
    },
    volumes: { bind: () => Promise.resolve('1'), provision: () => Promise.resolve('1') },
  },
  clock: systemClock,
  random: seededRandom(1),
  logger: silentLogger,
  registry: createMetricRegistry({ processMetrics: false }),
  identity: 'bench',
  defer: (callback) => void setImmediate(callback),
  onReady: () => undefined,
});
const build = new Builders({ resources: core.cluster.resources });

function show(pod: Pod): void {
  const old = shown.get(pod.uid);
  shown.set(pod.uid, pod);
  if (old === undefined) core.handlers.pods.onAdd(pod);
  else core.handlers.pods.onUpdate(old, pod);
}

/** Makes attempts and shows the bound pods until the scheduler is idle. */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    const startedAt = performance.now();
    let done = 0;
    while (performance.now() - startedAt < 10 && core.attempt() !== undefined) done++;
    for (const pod of echoes.splice(0, 1_000)) {
      done++;
      show(pod);
    }
    quiet = done === 0 ? quiet + 1 : 0;
    await turn();
  }
}

/** Returns the CPU time in milliseconds. */
async function round(number: number): Promise<number> {
  const groups: string[] = [];
  const pods = Array.from({ length: podsAtATime }, (_, i) => {
    const uid: string = randomUUID();
    if (i % 2 === 0) return build.projectedPod({ name: `lone-${number}-${i}`, uid, cpu: 1 });
    const group = `gang-${number}-${Math.floor(i / 2 / members)}`;
    if (!groups.includes(group)) groups.push(group);
    return build.projectedPod({ name: `member-${number}-${i}`, uid, cpu: 1, group });
  });
  const specs = groups.map((name) =>
    gangSpecOf(build.projectedPodGroup({ name, uid: name, minMember: members }), core.cluster.resources),
  );
  const used = process.cpuUsage();
  for (const spec of specs) core.handlers.podGroups.onAdd(spec);
  for (const pod of pods) show(pod);
  await settle();
  for (const { uid } of pods) show({ ...shown.get(uid)!, phase: 'Succeeded' });
  for (const { uid } of pods) {
    core.handlers.pods.onDelete(shown.get(uid)!, false);
    shown.delete(uid);
  }
  for (const spec of specs) core.handlers.podGroups.onDelete(spec, false);
  const { user, system } = process.cpuUsage(used);
  return (user + system) / 1000;
}

for (let i = 0; i < nodeCount; i++)
  core.handlers.nodes.onAdd(build.projectedNode({ name: `n${i}`, cpu: 16, memory: '64Gi', pods: 110 }));
core.begin();
for (let number = -4; number < 0; number++) await round(number);
const withRecord: number[] = [];
const without: number[] = [];
for (let pair = 0; pair < pairs; pair++) {
  for (const half of [0, 1]) {
    isOn = (pair + half) % 2 === 0;
    (isOn ? withRecord : without).push(await round(2 * pair + half));
  }
}
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const micros = (ms: number): string => `${((ms * 1000) / podsAtATime).toFixed(2)} µs`;
const ratio = median(withRecord.map((ms, i) => ms / without[i]!));
console.log(
  `${nodeCount} nodes, ${pairs} pairs of rounds of ${podsAtATime} pods, half in gangs of ${members}, Node ${process.version}: ` +
    `a pod takes ${micros(median(withRecord))} of CPU time with the record and ${micros(median(without))} without it; ` +
    `within a pair, ${((ratio - 1) * 100).toFixed(2)} % more`,
);
await core.stop();
