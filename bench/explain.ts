/**
 * How long a scheduler takes to explain why a gang waits, in a cluster of 5,000 nodes with 50,000 pods, and its longest turn: in steps between
 * attempts, as `/debug/explain` does it. Then the decisions about other pods, with and without an explanation meanwhile.
 * `node bench/explain.ts [nodes] [rounds]`
 */
import process from 'node:process';
import { defaultPlugins } from '../src/plugins/registry.ts';
import { workAtATime } from '../src/scheduler/cycle/work-at-a-time.ts';
import { Scheduling } from '../src/testkit/scheduling.ts';

const nodeCount = Number(process.argv[2] ?? 5_000);
const rounds = Number(process.argv[3] ?? 9);
const podsPerNode = 10;

const core = new Scheduling({ plugins: defaultPlugins });
for (let n = 0; n < nodeCount; n++) {
  const pool = n % 10 === 0 ? 'gpu' : 'cpu';
  core.node({
    name: `n${n}`,
    cpu: 32,
    memory: '128Gi',
    labels: { pool, zone: `z${n % 5}` },
    ...(pool === 'gpu' && { allocatable: { 'nvidia.com/gpu': 8 } }),
    ...(n % 97 === 0 && { unschedulable: true }),
  });
  for (let p = 0; p < podsPerNode; p++) {
    const requests: Record<string, number> = pool === 'gpu' && p < 7 ? { 'nvidia.com/gpu': 1 } : {};
    const runs = p % 2 === 0 ? { activeDeadlineSeconds: 600 + ((n * 7 + p) % 5000) } : {};
    core.pod({ name: `p${n}-${p}`, nodeName: `n${n}`, cpu: 3, memory: '8Gi', requests, priority: p % 3, ...runs });
  }
}
core.group({ name: 'train', minMember: 64 });
core.members(64, {
  group: 'train',
  cpu: 2,
  requests: { 'nvidia.com/gpu': 8 },
  nodeSelector: { pool: 'gpu' },
  priority: -1,
});
while ((await core.attempt()) !== undefined);

const totals: number[] = [];
const longest: number[] = [];
for (let round = 0; round < rounds; round++) {
  const explained = core.harness.core.explain({ namespace: 'default', name: 'train' });
  let [total, most] = [0, 0];
  for (;;) {
    const from = process.threadCpuUsage();
    const result = core.harness.core.attempt(workAtATime);
    const { user, system } = process.threadCpuUsage(from);
    const ms = (user + system) / 1000;
    total += ms;
    most = Math.max(most, ms);
    if (result === undefined) break;
  }
  const { errors, whatHelps, blocker } = (await explained)!;
  if (errors.length > 0 || blocker === undefined || whatHelps.length === 0) throw new Error(JSON.stringify(errors));
  totals.push(total);
  longest.push(most);
}
console.log(`${nodeCount} nodes, ${nodeCount * podsPerNode} pods, ${rounds} rounds; processor time in ms`);
console.log(`explanation: ${summary(totals)}`);
console.log(`longest turn: ${summary(longest)}`);

/** Decisions about this many pods, each with another request; in every other round an explanation is made meanwhile. */
const podsPerRound = 1_000;
const p99 = { alone: [] as number[], asked: [] as number[] };
for (let round = 0; round < 2 * rounds; round++) {
  const { harness } = core;
  const isAsked = round % 2 === 1;
  const name = (p: number): string => `new-${round}-${p}`;
  for (let p = 0; p < podsPerRound; p++) core.pod({ name: name(p), cpu: 0.1 + p / 10_000 });
  const explained = isAsked ? harness.core.explain({ namespace: 'default', name: 'train' }) : undefined;
  const durations: number[] = [];
  while (durations.length < podsPerRound) {
    const from = performance.now();
    const result = harness.core.attempt(workAtATime);
    if (result !== undefined && result.kind !== 'paused') durations.push(performance.now() - from);
    await Promise.resolve();
  }
  await explained;
  for (let p = 0; p < podsPerRound; p++) core.removePod(name(p));
  while ((await core.attempt()) !== undefined);
  durations.sort((a, b) => a - b);
  p99[isAsked ? 'asked' : 'alone'].push(durations[Math.floor(durations.length * 0.99)]!);
}
const ratios = p99.asked.map((ms, round) => ms / p99.alone[round]!);
console.log(`99th percentile of ${podsPerRound} decisions in ms: ${summary(p99.alone, 2)}`);
console.log(`with an explanation meanwhile: ${summary(p99.asked, 2)}; ratio ${summary(ratios, 3)}`);

function summary(values: readonly number[], digits = 0): string {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  return `median ${median.toFixed(digits)} (${sorted[0]!.toFixed(digits)}-${sorted.at(-1)!.toFixed(digits)})`;
}
