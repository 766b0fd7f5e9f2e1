/**
 * One gang cycle in-process: three identical pods on 5,000 nodes, all plugins on, every node filtered and scored, then rolled
 * back. First row: a signature not seen before in each iteration. Second row: the same signature again.
 */
import { Bench } from 'tinybench';
import { seededRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { CycleState } from '../src/framework/cycle-state.ts';
import { Profile } from '../src/framework/profile.ts';
import { WaitingPods } from '../src/framework/waiting-pods.ts';
import { defaultPlugins, pluginRegistry } from '../src/plugins/registry.ts';
import { Planner } from '../src/scheduler/placement/planner.ts';
import { gangSpecOf } from '../src/scheduler/pod-group-adapter.ts';
import { Builders } from '../test/builders/builders.ts';

const nodeCount = 5000;
const build = new Builders();
const cluster = new Cluster(build.resources);
const random = seededRandom(1);
for (let i = 0; i < nodeCount; i++) {
  cluster.setNode(
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
  for (let p = 0; p < 4; p++) {
    cluster.setPod(
      build.projectedPod({
        name: `old-${i}-${p}`,
        cpu: `${500 + Math.floor(random() * 3000)}m`,
        memory: '4Gi',
        nodeName: `node-${i}`,
      }),
    );
  }
}
const waitingPods = new WaitingPods(systemClock);
const profile = new Profile({
  schedulerName: 'default-scheduler',
  enabled: defaultPlugins.map(({ name, weight }) => ({ name, weight: weight ?? 1 })),
  registry: pluginRegistry,
  handle: {
    schedulerName: 'default-scheduler',
    clock: systemClock,
    cluster,
    waitingPods,
    binder: { bind: () => Promise.resolve() },
  },
});
const planner = new Planner(cluster, random);

let serial = 0;
function gang(cpu: string, preferring: boolean): () => void {
  const name = `gang-${serial++}`;
  cluster.setGang(gangSpecOf(build.projectedPodGroup({ name, minMember: 3 }), build.resources));
  const members = build.projectedPods(3, {
    group: name,
    cpu,
    memory: '2Gi',
    tolerations: preferring ? ['slow'] : [],
  } as never);
  for (const member of members) cluster.setPod(member);
  return () => {
    const transaction = cluster.begin();
    const plan = planner.plan(profile, members, 3, transaction, new CycleState());
    if (plan.placements.length !== 3) throw new Error('the gang was not placed');
    planner.unreserve(profile, plan.placements);
    transaction.rollback();
  };
}

const bench = new Bench({ time: 3000, warmupTime: 500 });
const fresh: (() => void)[] = Array.from({ length: 6000 }, (_, i) => gang(`${1000 + i}m`, false));
let next = 0;
bench.add('new signature each time', () => fresh[next++ % fresh.length]!());
const same = gang('900m', false);
bench.add('same signature again', () => same());
await bench.run();
for (const task of bench.tasks) {
  const result = task.result as unknown as { latency: { mean: number; p50: number; p99: number; max: number } };
  const { mean, p50, p99, max } = result.latency;
  console.log(
    `${task.name.padEnd(26)} mean ${mean.toFixed(3)} ms  p50 ${p50.toFixed(3)}  p99 ${p99.toFixed(3)}  max ${max.toFixed(3)}`,
  );
}
