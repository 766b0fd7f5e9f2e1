/**
 * Compares the pods of a basic PodGroup of Kubernetes with as many pods without a group, in process: intake, attempts and Bindings, attempts that
 * fail, changes and deletions. `node --expose-gc bench/basic-groups.ts [pods]`
 */
import process from 'node:process';
import { defaultPlugins } from '../src/plugins/registry.ts';
import type { PodOptions } from '../src/testkit/builders/pod.ts';
import { Scheduling } from '../src/testkit/scheduling.ts';

const count = Number(process.argv[2] ?? 10_000);
const kinds: Readonly<Record<string, PodOptions>> = { lone: {}, basic: { schedulingGroup: 'basic' } };
const results = new Map<string, Record<string, number>>();

for (let round = 0; round < 2; round++)
  for (const [kind, options] of Object.entries(kinds)) await measure(kind, options);
console.log(['step', ...Object.keys(kinds), 'ratio'].join('\t'));
for (const [step, { lone = NaN, basic = NaN }] of results)
  console.log([step, lone.toFixed(1), basic.toFixed(1), (basic / lone).toFixed(2)].join('\t'));

async function measure(kind: string, group: PodOptions): Promise<void> {
  const note = (step: string, value: number): void => {
    const all = results.get(step) ?? {};
    all[kind] = Math.min(all[kind] ?? Infinity, value);
    results.set(step, all);
  };
  const timed = async (step: string, work: () => void | Promise<void>): Promise<void> => {
    globalThis.gc?.();
    const from = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(from);
    note(`${step}, ms`, (user + system) / 1000);
  };
  const add = (core: Scheduling, name: string, options: PodOptions): void => {
    for (let i = 0; i < count; i++) core.pod({ name: `${name}-${i}`, cpu: 1, ...group, ...options });
  };

  const core = new Scheduling({ plugins: defaultPlugins });
  if (kind === 'basic') core.nativeGroup({ name: 'basic' });
  for (let n = 0; n < count / 10; n++) core.node({ name: `n${n}`, cpu: 10, pods: 20 });
  await timed('add', () => add(core, 'fits', {}));
  await timed('bind', async () => {
    while (core.harness.core.attempt() !== undefined);
    for (await core.settle(); core.binds.length > 0; await core.settle()) answer(core);
  });
  await timed('1,000 pods come and go', () => {
    for (let i = 0; i < 1000; i++) {
      core.pod({ name: 'one', cpu: 1, ...group });
      core.removePod('one');
    }
  });
  await timed('1,000 gated pods come and go', () => {
    for (let i = 0; i < 1000; i++) {
      core.pod({ name: 'one', cpu: 1, ...group, gates: ['quota'] });
      core.removePod('one');
    }
  });
  await timed('add more', () => add(core, 'waits', {}));
  await timed('attempts that fail', () => {
    while (core.harness.core.attempt() !== undefined);
  });
  note('joined', core.queue.joined);
  await timed('1,000 changes of waiting pods', () => {
    for (let i = 0; i < 1000; i++) core.change(`waits-${i}`, { labels: { change: 'x' } });
  });
  await timed('20 pods preempt', async () => {
    for (let i = 0; i < 20; i++) {
      core.pod({ name: `high-${i}`, cpu: 1, priority: 1000 });
      core.harness.core.attempt();
      await core.settle();
    }
  });
  note('preempted', core.harness.preempted.length);
  await timed('a node is added', () => {
    core.node({ name: 'new', cpu: 1 });
    core.harness.clock.advance(11_000);
    while (core.harness.core.attempt() !== undefined);
  });
  await timed('100 nodes are lost', () => {
    for (let n = 0; n < 100; n++) core.removeNode(`n${n}`);
  });
  await timed('1,000 bound pods are deleted', () => {
    for (let i = 0; i < 1000; i++) core.removePod(`fits-${i}`);
  });
  await timed('1,000 pods with another priority come and go', () => {
    for (let i = 0; i < 1000; i++) {
      core.pod({ name: 'one', cpu: 1, ...group, priority: 7 });
      core.removePod('one');
    }
  });
  await timed('delete', () => {
    for (let i = 0; i < count; i++) core.removePod(`waits-${i}`);
    for (let i = 1000; i < count; i++) core.removePod(`fits-${i}`);
  });
  void core.harness.core.stop();
}

function answer(core: Scheduling): void {
  for (const { binding, accept } of core.binds.splice(0)) {
    accept();
    core.change(binding.name, { nodeName: binding.nodeName, phase: 'Running' });
  }
}
