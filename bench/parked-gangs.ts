/**
 * Measures the cost of gangs that wait on a full cluster. The events are their rejection at the start of the process, the deletion of one pod
 * (capacity for a member, not for a gang), the deletion of ten more pods, and node heartbeats. The benchmark delivers the watch events of all writes.
 *
 *     node --expose-gc bench/parked-gangs.ts [--no-preemption] [gangs] [shapes]
 *
 * No pod has a lower priority than the gangs. With `--no-preemption`, the plugin DefaultPreemption is disabled.
 */
import process from 'node:process';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Pod } from '../src/api/pod.ts';
import { defaultPlugins } from '../src/plugins/registry.ts';
import { gangSpecOf } from '../src/scheduler/intake/pod-group-adapter.ts';
import { answeredPorts } from '../src/scheduler/testing/answered-ports.ts';
import { Builders } from '../src/testkit/builders/builders.ts';
import { benchCore } from './bench-core.ts';

const { values, positionals } = parseArgs({
  options: { preemption: { type: 'boolean', default: true } },
  allowNegative: true,
  allowPositionals: true,
});
const [gangCount = 10_000, shapes = 1] = positionals.map(Number);
const plugins = defaultPlugins.filter(({ name }) => values.preemption || name !== 'DefaultPreemption');
const nodeCount = 5_000;
const members = 4;

const counts = { attempts: 0, lookups: 0, verdicts: 0, events: 0, binds: 0 };
/** UID -> pod in its latest watch event */
const shown = new Map<string, Pod>();
const echoes: Pod[] = [];

const core = benchCore({
  profiles: [{ schedulerName: 'default-scheduler', plugins }],
  ports: {
    ...answeredPorts,
    binder: {
      bind: ({ uid, nodeName }) => {
        counts.binds++;
        echoes.push({ ...shown.get(uid)!, nodeName });
        return Promise.resolve();
      },
    },
    verdicts: {
      write: ({ uid }, { reason, message }) => {
        counts.verdicts++;
        const pod = shown.get(uid)!;
        const podScheduled = { status: 'False', reason, message };
        echoes.push({ ...pod, resourceVersion: `${pod.resourceVersion}1`, podScheduled });
        return Promise.resolve('written');
      },
    },
    events: { record: () => counts.events++ },
  },
});
const build = new Builders({ resources: core.cluster.resources });

function show(pod: Pod): void {
  const old = shown.get(pod.uid);
  shown.set(pod.uid, pod);
  if (old === undefined) core.handlers.pods.onAdd(pod);
  else core.handlers.pods.onUpdate(old, pod);
}

for (let i = 0; i < nodeCount; i++) {
  core.handlers.nodes.onAdd(build.projectedNode({ name: `n${i}`, cpu: 8, memory: '64Gi', pods: 110 }));
  show(build.projectedPod({ name: `filler-${i}`, uid: `filler-${i}`, cpu: 8, memory: '1Gi', nodeName: `n${i}` }));
}
for (let g = 0; g < gangCount; g++) {
  const spec = build.projectedPodGroup({ name: `w${g}`, uid: `w${g}`, minMember: members });
  core.handlers.podGroups.onAdd(gangSpecOf(spec, core.cluster.resources));
  const cpu = `${5000 + (g % shapes)}m`;
  for (let m = 0; m < members; m++)
    show(build.projectedPod({ name: `w${g}-${m}`, uid: `w${g}-${m}`, cpu, group: `w${g}` }));
}

/** Makes attempts and delivers watch events until the scheduler is idle. Yields as the process does. */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    const end = performance.now() + 10;
    let done = 0;
    while (performance.now() < end) {
      const result = core.attempt();
      if (result === undefined) break;
      done++;
      if (result.kind === 'joined') counts.lookups++;
      else counts.attempts++;
    }
    for (const pod of echoes.splice(0, 1_000)) {
      done++;
      show(pod);
    }
    quiet = done === 0 ? quiet + 1 : 0;
    await turn();
  }
}

async function phase(title: string, act: () => void): Promise<void> {
  const before = { ...counts };
  globalThis.gc?.();
  // V8 goes on sweeping in the background, which would count as CPU time of this phase.
  await sleep(200);
  const heap = process.memoryUsage().heapUsed;
  const used = process.cpuUsage();
  const startedAt = performance.now();
  act();
  const handlerMs = performance.now() - startedAt;
  await settle();
  const { user, system } = process.cpuUsage(used);
  const of = (name: keyof typeof counts): number => counts[name] - before[name];
  globalThis.gc?.();
  const grown = (process.memoryUsage().heapUsed - heap) / 2 ** 20;
  console.log(
    `${title}: ${of('attempts')} attempts, ${of('lookups')} lookups, ${of('verdicts')} verdicts and ${of('events')} Events ` +
      `written, ${of('binds')} bindings; ${((user + system) / 1000).toFixed(1)} ms of CPU time, ${handlerMs.toFixed(3)} ms in the handler; heap grew by ${grown.toFixed(1)} MB`,
  );
}

const remove = (name: string): void => core.handlers.pods.onDelete(shown.get(name)!, false);

console.log(`${gangCount} gangs of ${members} in ${shapes} shapes on ${nodeCount} full nodes, Node ${process.version}`);
await phase('start', () => core.begin());
await phase('delete one pod', () => remove('filler-0'));
await phase('delete ten more pods', () => {
  for (let i = 1; i <= 10; i++) remove(`filler-${i}`);
});
const node = core.cluster.node('n7')!.node;
await phase('a thousand heartbeats', () => {
  for (let i = 0; i < 1000; i++) core.handlers.nodes.onUpdate(node, { ...node, resourceVersion: `${i}` });
});
process.exit(0);
