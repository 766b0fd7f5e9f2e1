import { expect, it } from 'vitest';
import { cpuId } from '../api/resource-names.ts';
import { seededRandom } from '../base/random.ts';
import { runs } from '../base/testing/runs.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import { Queueing } from '../testkit/queueing.ts';
import type { SchedulerCore } from './scheduler-core.ts';
import { evictingLower, evictionsFor } from './testing/evicting-lower.ts';
import { withoutPreemption } from './testing/preemption-plugins.ts';

const nodeNames = ['a', 'b'];

/** Returns whether only an event can bring the entity on: neither it nor its representative is about to be tried. */
function waitsForEvent({ queue }: Queueing, entity: QueuedEntity): boolean {
  if (entity.state.kind !== 'unschedulable') return false;
  const joined = queue.classOf(entity)!;
  const { representative: first } = joined;
  if (first === undefined) return !joined.isWoken;
  expect([queue.get(first.key) === first, queue.classOf(first) === joined]).toEqual([true, true]);
  expect(['active', 'backoff']).toContain(first.state.kind);
  return false;
}

it('no pod that fits stays unschedulable, whatever the API shows about pods with reservations', () => {
  const lost: string[] = [];
  let unschedulable = 0;
  for (let seed = 1; seed <= runs(300); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const core = new Queueing({ plugins: defaultPlugins, seed });
    const log: string[] = [];
    for (const name of nodeNames) core.node({ name, cpu: 2 });
    /** Pods of another scheduler, by what the API last said. */
    const others = new Map<string, 'open' | 'bound' | 'ended'>();
    let serial = 0;
    const ours: string[] = [];
    for (let step = 0; step < 40; step++) {
      while (core.harness.core.attempt() !== undefined);
      core.harness.clock.advance(11_000);
      while (core.harness.core.attempt() !== undefined);
      const name = others.size === 0 ? undefined : pick([...others.keys()]);
      const state = name === undefined ? undefined : others.get(name);
      switch (Math.floor(random() * 9)) {
        case 0: {
          const fresh = `x${serial++}`;
          others.set(fresh, 'open');
          const nominatedNodeName = random() < 0.8 ? pick(nodeNames) : '';
          core.pod({ name: fresh, cpu: pick([1, 2]), priority: 10, schedulerName: 'other', nominatedNodeName });
          log.push(`${fresh} nominated ${nominatedNodeName}`);
          break;
        }
        case 1:
          if (state !== 'open') break;
          core.change(name!, { nominatedNodeName: pick(['', ...nodeNames]) });
          log.push(`${name} nomination changed`);
          break;
        case 2:
          if (state !== 'open') break;
          others.set(name!, 'bound');
          core.change(name!, { nodeName: pick(nodeNames), phase: 'Running' });
          log.push(`${name} bound`);
          break;
        case 3:
          if (state === undefined || state === 'ended') break;
          others.set(name!, 'ended');
          core.change(name!, { phase: 'Succeeded' });
          log.push(`${name} ended, was ${state}`);
          break;
        case 4:
          if (name === undefined) break;
          others.delete(name);
          core.removePod(name);
          log.push(`${name} deleted`);
          break;
        case 5:
          if (state === undefined || state === 'ended') break;
          core.change(name!, { deleting: true });
          log.push(`${name} deleting`);
          break;
        case 6:
        case 7:
          ours.push(`y${serial}`);
          core.pod({ name: `y${serial++}`, cpu: pick([1, 2]), priority: pick([0, 20]) });
          log.push('own pod');
          break;
        case 8: {
          const [removed] = ours.splice(0, 1);
          if (removed !== undefined) core.removePod(removed);
          log.push('own pod deleted');
        }
      }
      for (const entity of core.queue.entities()) {
        if (!waitsForEvent(core, entity)) continue;
        const { key, schedulingEntity } = entity;
        unschedulable++;
        if (core.harness.core.dryRun(schedulingEntity).fits) lost.push(`${seed}: ${key} after ${log.at(-1)}`);
      }
      if (lost.length > 0) break;
    }
  }
  expect(lost).toEqual([]);
  expect(unschedulable).toBeGreaterThan(runs(1000));
});

it('no gang that fits stays unschedulable', () => {
  const lost: string[] = [];
  let unschedulable = 0;
  for (let seed = 1; seed <= runs(200) && lost.length === 0; seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const core = new Queueing({ plugins: defaultPlugins, seed });
    let serial = 0;
    const existing = new Set(['a', 'b', 'c']);
    for (const name of existing) core.node({ name, cpu: 2 });
    const bound: string[] = [];
    const groups: string[] = [];
    /** group -> its minMember */
    const sizes = new Map<string, number>();
    for (let step = 0; step < 40; step++) {
      while (core.harness.core.attempt() !== undefined);
      core.harness.clock.advance(11_000);
      while (core.harness.core.attempt() !== undefined);
      let what = '';
      switch (Math.floor(random() * 8)) {
        case 0: {
          const count = pick([1, 2, 3]);
          const cpu = pick([1, 2]);
          const minResources = random() < 0.5 && { minResources: { cpu: String(count * cpu) } };
          for (const group of pick([[`g${serial++}`], [`g${serial++}`, `g${serial++}`]])) {
            groups.push(group);
            sizes.set(group, count);
            core.group({ name: group, minMember: count, ...minResources });
            core.members(count, { group, cpu });
          }
          what = 'new groups';
          break;
        }
        case 1:
        case 2:
          bound.push(`x${serial}`);
          core.pod({ name: `x${serial++}`, cpu: pick([1, 2]), nodeName: pick(['a', 'b', 'c']) });
          what = 'new bound pod';
          break;
        case 3: {
          const [removed] = bound.splice(Math.floor(random() * bound.length), 1);
          if (removed === undefined) break;
          if (random() < 0.5) core.removePod(removed);
          else core.change(removed, { phase: 'Failed' });
          what = 'bound pod removed';
          break;
        }
        case 4: {
          const name = pick(['a', 'b', 'c']);
          if (existing.delete(name)) core.removeNode(name);
          what = `node ${name} removed`;
          break;
        }
        case 5: {
          const name = pick(['a', 'b', 'c']);
          existing.add(name);
          core.node({ name, cpu: pick([1, 2, 4]) });
          what = `node ${name} set`;
          break;
        }
        case 6: {
          const group = pick(groups.length === 0 ? ['none'] : groups);
          const [member] = core.harness.cluster.gang(`default/${group}`)?.members.keys() ?? [];
          if (member !== undefined) core.removePod(member);
          what = 'member removed';
          break;
        }
        case 7: {
          const waiting = groups.filter((name) => core.states()[`gang/default/${name}`] === 'unschedulable');
          if (waiting.length === 0) break;
          // The first one of a class was tried last.
          const name = random() < 0.5 ? waiting[0]! : pick(waiting);
          core.group({ name, minMember: sizes.get(name)!, minResources: { cpu: pick(['2', '100']) } });
          what = `minResources of ${name} changed`;
        }
      }
      for (const entity of core.queue.entities()) {
        if (!waitsForEvent(core, entity)) continue;
        const { key, schedulingEntity } = entity;
        unschedulable++;
        if (core.harness.core.dryRun(schedulingEntity).fits) lost.push(`${seed}/${step}: ${key} after ${what}`);
      }
      if (lost.length > 0) break;
    }
  }
  expect(lost).toEqual([]);
  expect(unschedulable).toBeGreaterThan(runs(1000));
});

it('no gang that fits or could preempt stays unschedulable, although equal gangs share results of PostFilter', () => {
  const lost: string[] = [];
  const counts = { unschedulable: 0, shared: 0, evicted: 0 };
  for (let seed = 1; seed <= runs(300) && lost.length === 0; seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const core = new Queueing({ plugins: [...withoutPreemption, evictingLower], seed });
    const { cluster, preempted: evicted } = core.harness;
    const { core: scheduler } = core.harness;
    let serial = 0;
    const nodes = ['a', 'b', 'c'];
    for (const name of nodes) core.node({ name, cpu: 2 });
    const bound = new Set<string>();
    for (let step = 0; step < 60; step++) {
      while (scheduler.attempt() !== undefined);
      core.harness.clock.advance(pick([1_000, 11_000, 11_000]));
      while (scheduler.attempt() !== undefined);
      let what = '';
      switch (Math.floor(random() * 8)) {
        case 0:
        case 1: {
          const group = `g${serial++}`;
          const count = pick([1, 1, 2]);
          const cpu = pick([1, 2]);
          const minResources = random() < 0.2 && { minResources: { cpu: String(count * cpu) } };
          core.group({ name: group, minMember: count, ...minResources });
          core.members(count, { group, cpu, priority: pick([5, 5, 10]) });
          what = 'new group';
          break;
        }
        case 2:
        case 3:
        case 4: {
          const nodeName = pick(nodes);
          const cpu = pick([1, 2]);
          const isFull = cpu * 1000 > (cluster.node(nodeName)?.free(cpuId) ?? 0);
          if (isFull && random() < 0.8) break;
          bound.add(`x${serial}`);
          core.pod({ name: `x${serial++}`, cpu, nodeName, priority: pick([0, 0, 5, 10]) });
          what = 'new bound pod';
          break;
        }
        case 5: {
          if (bound.size === 0) break;
          const removed = pick([...bound]);
          bound.delete(removed);
          if (random() < 0.5) core.removePod(removed);
          else core.change(removed, { phase: 'Failed' });
          what = 'bound pod removed';
          break;
        }
        case 6:
          core.node({ name: pick(nodes), cpu: pick([1, 2, 4]) });
          what = 'node changed';
          break;
        case 7: {
          const [name] = evicted.shift()?.split(' ') ?? [];
          if (name === undefined || !bound.has(name)) break;
          counts.evicted++;
          if (random() < 0.5) {
            core.change(name, { deleting: true });
            what = 'victim is deleting';
            break;
          }
          bound.delete(name);
          core.removePod(name);
          what = 'victim removed';
        }
      }
      for (const entity of core.queue.entities()) {
        const { key, schedulingEntity } = entity;
        if (!waitsForEvent(core, entity) || schedulingEntity.kind === 'pod') continue;
        if (cluster.hasReservationFor(schedulingEntity.gang.key)) continue;
        counts.unschedulable++;
        counts.shared += Number(core.queue.classOf(entity)!.size > 1);
        const dryRun: SchedulerCore['dryRun'] = (of, options) => scheduler.dryRun(of, options);
        const evictions = evictionsFor(schedulingEntity, { cluster, dryRun });
        // A gang pauses after a preemption that failed. The plugin does not know which pods make way for another gang, or did not terminate
        // in time before; they are refused.
        const [member] = schedulingEntity.gang.pending.keys();
        const verdict = scheduler.verdictOf(member!)?.message ?? '';
        const isRefused = verdict.includes('next try not before') || verdict.includes('No pod is preempted: victim');
        if ((evictions?.nominations !== undefined && !isRefused) || dryRun(schedulingEntity).fits)
          lost.push(`${seed}/${step}: ${key} after ${what}`);
      }
      if (lost.length > 0) break;
    }
    void scheduler.stop();
  }
  expect(lost).toEqual([]);
  expect(counts.unschedulable).toBeGreaterThan(runs(5_000));
  expect(counts.shared).toBeGreaterThan(runs(1_000));
  expect(counts.evicted).toBeGreaterThan(runs(200));
});
