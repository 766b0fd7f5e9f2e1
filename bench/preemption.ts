/**
 * Measures attempts of pods and gangs that must preempt, in process, on 5,000 nodes with 50,000 pods. Attempts yield as in a scheduler process; the
 * longest turn of the event loop is how long all other work waits. `node --expose-gc bench/preemption.ts [part of a title]`
 */
import process from 'node:process';
import { workAtATime } from '../src/scheduler/cycle/work-at-a-time.ts';
import { gangSpecOf } from '../src/scheduler/intake/pod-group-adapter.ts';
import type { SchedulerCore } from '../src/scheduler/scheduler-core.ts';
import { Builders } from '../src/testkit/builders/builders.ts';
import type { PodOptions } from '../src/testkit/builders/pod.ts';
import { benchCore } from './bench-core.ts';

const nodeCount = 5_000;
const podsPerNode = 10;
const high = 1_000;

interface Case {
  /** The i-th pod of a node; all nodes are full. */
  readonly running: (node: number, i: number) => PodOptions;
  /** 1: a single pod. */
  readonly size: number;
  readonly member: PodOptions;
  /** Whether the victims form gangs of this size. */
  readonly gangsOf?: number;
  readonly victims: number;
}

const cases: Readonly<Record<string, Case>> = {
  'does not help, by bound: gang of 100': {
    running: (_node, i) => ({ priority: i === 0 ? 0 : high }),
    size: 100,
    member: { cpu: 2 },
    victims: 0,
  },
  'no pods of lower priority: gang of 100': {
    running: () => ({ priority: high }),
    size: 100,
    member: { cpu: 2 },
    victims: 0,
  },
  'single pod, one victim': { running: (node) => ({ priority: node % 7 }), size: 1, member: { cpu: 1 }, victims: 1 },
  'gang of 100, 100 victims': {
    running: (node) => ({ priority: node % 7 }),
    size: 100,
    member: { cpu: 1 },
    victims: 100,
  },
  'gang of 1,000, 1,000 victims': {
    running: (node) => ({ priority: node % 7 }),
    size: 1000,
    member: { cpu: 1 },
    victims: 1000,
  },
  'gang of 20,000, 20,000 victims': {
    running: (node) => ({ priority: node % 7 }),
    size: 20_000,
    member: { cpu: 1 },
    victims: 20_000,
  },
  'gang of 100, victims in gangs of 10': {
    running: (node) => ({ priority: node % 7 }),
    size: 100,
    member: { cpu: 1 },
    gangsOf: 10,
    victims: 100,
  },
  'gang of 100, victims in gangs of 10,000': {
    running: (node) => ({ priority: node % 7 }),
    size: 100,
    member: { cpu: 1 },
    gangsOf: 10_000,
    victims: 10_000,
  },
  'gang of 100 apart by hostname, 100 victims': {
    running: (node) => ({ priority: node % 7 }),
    size: 100,
    member: {
      cpu: 1,
      labels: { app: 'apart' },
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: { app: 'apart' } }, topologyKey: 'kubernetes.io/hostname' },
            ],
          },
        },
      },
    },
    victims: 100,
  },
};

const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const summary = (values: number[]): string => {
  values.sort((a, b) => a - b);
  return [values[0]!, values[values.length >> 1]!, values.at(-1)!].map((ms) => ms.toFixed(1).padStart(9)).join('');
};

let evictions = 0;
const unansweredMarks: ((isWritten: boolean) => void)[] = [];

function coreWith({ running, gangsOf }: Case): { readonly core: SchedulerCore; readonly build: Builders } {
  const unanswered = (): Promise<never> => new Promise(() => undefined);
  const core = benchCore({
    ports: {
      evictor: {
        mark: () => {
          evictions++;
          return new Promise((resolve) => unansweredMarks.push(resolve));
        },
        unmark: () => Promise.resolve(),
        evict: unanswered,
        release: unanswered,
      },
    },
  });
  const build = new Builders({ resources: core.cluster.resources });
  let serial = 0;
  for (let n = 0; n < nodeCount; n++) {
    const labels = { 'kubernetes.io/hostname': `node-${n}` };
    core.handlers.nodes.onAdd(
      build.projectedNode({ name: `node-${n}`, cpu: podsPerNode, memory: '64Gi', pods: 110, labels }),
    );
    for (let i = 0; i < podsPerNode; i++) {
      const group = gangsOf === undefined ? undefined : `low-${Math.floor(serial / gangsOf)}`;
      if (group !== undefined && serial % (gangsOf ?? 1) === 0) {
        const spec = build.projectedPodGroup({ name: group, uid: group, minMember: gangsOf! });
        core.handlers.podGroups.onAdd(gangSpecOf(spec, build.resources));
      }
      const name = `old-${serial++}`;
      const options = { cpu: 1, memory: '1Gi', nodeName: `node-${n}`, ...running(n, i) };
      core.handlers.pods.onAdd(
        build.projectedPod({ name, uid: name, ...options, ...(group !== undefined && { group }) }),
      );
    }
  }
  core.begin();
  return { core, build };
}

const filter = process.argv.slice(2).join(' ');
console.log(
  `${'minimum, median, maximum'.padEnd(48)}${'CPU time, ms'.padStart(27)}${'of the longest turn'.padStart(27)}${'victims'.padStart(9)}`,
);
for (const [title, each] of Object.entries(cases)) {
  if (!title.includes(filter)) continue;
  const { core, build } = coreWith(each);
  const works: number[] = [];
  const longest: number[] = [];
  let victims = 0;
  for (let round = 0; round <= 9; round++) {
    const group = `x-${round}`;
    const pods = Array.from({ length: each.size }, (_, i) =>
      build.projectedPod({
        name: `${group}-${i}`,
        uid: `${group}-${i}`,
        memory: '1Gi',
        priority: high,
        ...each.member,
        ...(each.size > 1 && { group }),
      }),
    );
    const spec = gangSpecOf(
      build.projectedPodGroup({ name: group, uid: group, minMember: each.size }),
      build.resources,
    );
    if (each.size > 1) core.handlers.podGroups.onAdd(spec);
    for (const pod of pods) core.handlers.pods.onAdd(pod);
    globalThis.gc?.();
    evictions = 0;
    let [work, turn] = [0, 0];
    for (let kind: string | undefined = 'paused'; kind === 'paused';) {
      const cpuBefore = cpuTime();
      kind = core.attempt(workAtATime)?.kind;
      const cpu = cpuTime() - cpuBefore;
      work += cpu;
      turn = Math.max(turn, cpu);
      await new Promise(setImmediate);
    }
    // The first round is a warm-up.
    if (round > 0) {
      works.push(work);
      longest.push(turn);
    }
    for (let waits = 0; waits < 100 && evictions < each.victims; waits++)
      await new Promise((end) => setTimeout(end, 1));
    victims = evictions;
    if (each.size > 1) core.handlers.podGroups.onDelete(spec, false);
    for (const pod of pods) core.handlers.pods.onDelete(pod, false);
    while (core.attempt() !== undefined);
    // The preemption has ended, so its marks are taken back.
    for (const answer of unansweredMarks.splice(0)) answer(true);
    await new Promise(setImmediate);
  }
  console.log(`${title.padEnd(48)}${summary(works)}${summary(longest)}${String(victims).padStart(9)}`);
  if (victims !== each.victims) console.log(`  expected ${each.victims} victims`);
}
process.exit(0);
