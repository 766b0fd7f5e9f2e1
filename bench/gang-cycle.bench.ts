/**
 * Whole gang cycles in process, on 5,000 nodes with 20,000 pods, all plugins on, every node filtered and scored, then rolled
 * back: the scheduler's own core, and its trial. `node bench/gang-cycle.bench.ts [words of a title]`
 */
import process from 'node:process';
import { Bench } from 'tinybench';
import { seededRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/system-clock.ts';
import type { Plugin } from '../src/framework/plugin.ts';
import { skip } from '../src/framework/status.ts';
import { createMetricRegistry } from '../src/observability/metric-registry.ts';
import { silentLogger } from '../src/observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../src/plugins/registry.ts';
import { gangSpecOf } from '../src/scheduler/pod-group-adapter.ts';
import { SchedulerCore } from '../src/scheduler/scheduler-core.ts';
import { Builders } from '../src/testkit/builders/builders.ts';

const nodeCount = 5000;
const podsPerNode = 4;

interface World {
  readonly core: SchedulerCore;
  readonly build: Builders;
}

function worldWith(...extra: Plugin[]): World {
  const nothing = (): Promise<never> => Promise.reject(new Error('nothing is written here'));
  const enabled = [...defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight })), ...extra];
  const core = new SchedulerCore({
    profiles: [{ schedulerName: 'default-scheduler', plugins: enabled }],
    plugins: new Map([...pluginRegistry, ...extra.map((plugin) => [plugin.name, () => plugin] as const)]),
    ports: {
      binder: { bind: nothing },
      verdicts: { write: nothing },
      events: { record: () => undefined },
      evictor: { evict: nothing },
    },
    clock: systemClock,
    random: seededRandom(1),
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    identity: 'bench',
    onReady: () => undefined,
  });
  const build = new Builders({ resources: core.cluster.resources });
  fill({ core, build });
  return { core, build };
}

function fill({ core, build }: World): void {
  const random = seededRandom(1);
  for (let i = 0; i < nodeCount; i++) {
    core.handlers.nodes.onAdd(
      build.projectedNode({
        name: `node-${i}`,
        cpu: 32,
        memory: '128Gi',
        pods: 110,
        labels: {
          'kubernetes.io/hostname': `node-${i}`,
          'topology.kubernetes.io/zone': `zone-${i % 3}`,
          pool: `p${i % 10}`,
        },
        taints: i % 10 === 0 ? ['dedicated=ml:NoSchedule'] : i % 7 === 0 ? ['slow=yes:PreferNoSchedule'] : [],
      }),
    );
    for (let p = 0; p < podsPerNode; p++) {
      const cpu = `${500 + Math.floor(random() * 3000)}m`;
      core.handlers.pods.onAdd(
        build.projectedPod({ name: `old-${i}-${p}`, cpu, memory: '4Gi', nodeName: `node-${i}` }),
      );
    }
  }
}

let serial = 0;

/** A gang that the core knows; returns its cycle, which must place all members or else none. */
function gangOf({ core, build }: World, size: number, cpu: string, memory = '2Gi'): () => void {
  const name = `gang-${serial++}`;
  core.handlers.podGroups.onAdd(gangSpecOf(build.projectedPodGroup({ name, minMember: size }), build.resources));
  for (const member of build.projectedPods(size, { group: name, cpu, memory })) core.handlers.pods.onAdd(member);
  const gang = core.cluster.gang(`default/${name}`)!;
  return () => {
    const { fits, plan } = core.trial({ kind: 'gang', gang });
    if (!fits || plan.length !== size) throw new Error('the gang was not placed');
  };
}

/** Reads other nodes, and has nothing to do for these pods. */
const alwaysSkips: Plugin = {
  name: 'AlwaysSkips',
  readsOtherNodes: true,
  preFilter: () => skip,
  filter: () => undefined,
};

const world = worldWith();
const small = Array.from({ length: 6000 }, (_, i) => gangOf(world, 3, `${1000 + i}m`));
let next = 0;
const cases: Readonly<Record<string, () => void>> = {
  'gang of 3, new signature each time': () => small[next++ % small.length]!(),
  'gang of 3, same signature again': gangOf(world, 3, '900m'),
  'gang of 1,000, same signature again': gangOf(world, 1000, '500m', '1Gi'),
  'gang of 5,000, same signature again': gangOf(world, 5000, '500m', '1Gi'),
  'gang of 1,000, with a plugin that reads other nodes and skips': gangOf(worldWith(alwaysSkips), 1000, '500m', '1Gi'),
};
const asked = process.argv.slice(2).join(' ');
const bench = new Bench({ time: 3000, warmupTime: 500 });
for (const [title, run] of Object.entries(cases)) if (title.includes(asked)) bench.add(title, run);
await bench.run();
for (const task of bench.tasks) {
  const result = task.result as unknown as {
    latency?: { mean: number; p50: number; p99: number; max: number };
    error?: Error;
  };
  if (result.latency === undefined) throw result.error ?? new Error(`${task.name} was not measured`);
  const { mean, p50, p99, max } = result.latency;
  console.log(
    `${task.name.padEnd(63)} mean ${mean.toFixed(3)} ms  p50 ${p50.toFixed(3)}  p99 ${p99.toFixed(3)}  max ${max.toFixed(3)}`,
  );
}
