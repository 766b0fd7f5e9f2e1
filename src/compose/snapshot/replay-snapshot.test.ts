import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../api/explain/snapshot.ts';
import type { SnapshotReplay } from '../../api/explain/snapshot-replay.ts';
import type { PluginFactory } from '../../framework/plugin.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { openSnapshot } from './open-snapshot.ts';
import { differs, replaySnapshot } from './replay-snapshot.ts';
import { snapshotOf } from './testing/snapshot-of.ts';

/** Three nodes, a gang that waits for capacity, one that waits for a member, and a pod whose turn has not come. */
async function quiet(
  plugins: ConstructorParameters<typeof Scheduling>[0]['plugins'] = defaultPlugins,
): Promise<Scheduling> {
  const c = new Scheduling({ plugins });
  for (const name of ['n0', 'n1', 'n2']) c.node({ name, cpu: 4, labels: { zone: 'a' } });
  c.pod({ name: 'old', nodeName: 'n0', cpu: 3 });
  c.group({ name: 'red', minMember: 4 });
  c.members(4, { group: 'red', cpu: 3 });
  c.group({ name: 'lab', minMember: 3 });
  c.members(2, { group: 'lab', cpu: 1 });
  while ((await c.attempt()) !== undefined);
  c.harness.clock.advance(2_000);
  await c.settle();
  return c;
}

const replayOf = (snapshot: Snapshot): SnapshotReplay => replaySnapshot(openSnapshot(snapshot, new VirtualClock()));

describe('a replay of a snapshot', () => {
  it('compares the verdicts of what waits for capacity and for members', async () => {
    const c = await quiet();
    const { items } = replayOf(snapshotOf(c.harness.core));
    expect(items.map(({ subject, plan, verdict }) => [subject.name, plan, verdict])).toEqual([
      ['red', 'same', 'same'],
      ['lab', 'none', 'same'],
    ]);
  });

  it('says that the cluster has changed since the attempt, and that an attempt is due', async () => {
    const c = await quiet();
    c.pod({ name: 'another', nodeName: 'n1', cpu: 1 });
    c.pod({ name: 'new', cpu: 1 });
    const { items } = replayOf(snapshotOf(c.harness.core));
    expect(items.map(({ subject, plan, verdict }) => [subject.name, plan, verdict])).toEqual([
      ['red', 'same', 'changed'],
      ['new', 'same', 'none'],
      ['lab', 'none', 'same'],
    ]);
  });

  it('WI23: a changed node gives a difference in each plan and verdict that depends on it', async () => {
    const snapshot = snapshotOf((await quiet()).harness.core);
    const [first, ...others] = snapshot.nodes;
    const nodes = [{ ...first!, unschedulable: true }, ...others];
    const { items } = replayOf({ ...snapshot, nodes });
    expect(items.map(({ subject, plan, verdict }) => [subject.name, plan, verdict])).toEqual([
      ['red', 'differs', 'differs'],
      ['lab', 'none', 'same'],
    ]);
    const message = items[0]!.differences.find(({ field }) => field === 'message')!;
    expect(message.recorded).not.toContain('unschedulable');
    expect(message.replayed).toContain('1 node(s) were unschedulable');
  });

  it('finds that a node is gone from the plan of a pod that fits', async () => {
    const c = await quiet();
    c.pod({ name: 'new', cpu: 4 });
    const snapshot = snapshotOf(c.harness.core);
    const { node } = snapshot.queue.find(({ subject }) => subject.name === 'new')!.plan!.assignments[0]!;
    const { items } = replayOf({ ...snapshot, nodes: snapshot.nodes.filter(({ name }) => name !== node) });
    const { differences } = items.find(({ subject }) => subject.name === 'new')!;
    expect(differences[0]).toMatchObject({ field: 'plan.assignments', recorded: `new -> ${node}` });
  });

  it('catches a scheduler of which one decision is mutated', async () => {
    // It takes an empty node for a full one.
    const mutated =
      (factory: PluginFactory): PluginFactory =>
      (args, handle) => {
        const plugin = factory(args, handle);
        return new Proxy(plugin, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name, target);
            if (typeof value !== 'function') return value;
            if (name !== 'filter') return value.bind(target) as unknown;
            return (...call: Parameters<NonNullable<typeof plugin.filter>>) =>
              call[2].name === 'n1' ? new handle.Status('Unschedulable', 'Insufficient cpu') : target.filter!(...call);
          },
        });
      };
    const plugins = defaultPlugins.map(({ name, factory }) => ({
      name,
      factory: name === 'NodeResourcesFit' ? mutated(factory) : factory,
    }));
    const snapshot = snapshotOf((await quiet(plugins)).harness.core);
    expect(differs(replayOf(snapshot))).toBe(true);
    expect(differs(replayOf(snapshotOf((await quiet()).harness.core)))).toBe(false);
  });

  it('finds a single other choice among equal nodes', async () => {
    const c = await quiet();
    c.pod({ name: 'new', cpu: 1 });
    const snapshot = snapshotOf(c.harness.core);
    const seeds = Array.from({ length: 20 }, (_, seed) => ({ ...snapshot, seed }));
    expect(seeds.some((other) => differs(replayOf(other)))).toBe(true);
  });

  it('is of the queue with its frozen ranks and attempts', async () => {
    const c = await quiet();
    const { core } = openSnapshot(snapshotOf(c.harness.core), new VirtualClock());
    const ranks = ({ queue }: Pick<Scheduling, 'queue'>): unknown =>
      [...queue.entities()]
        .map(({ key, sortKey, readySince, since, attempts }) => ({ key, sortKey, readySince, since, attempts }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
    expect(ranks(core)).toEqual(ranks(c));
  });

  it('shares what pods of one shape share', async () => {
    const { core } = openSnapshot(snapshotOf((await quiet()).harness.core), new VirtualClock());
    const [first, second] = [core.cluster.pod('red-0')!, core.cluster.pod('red-1')!];
    expect(first.template).toBe(second.template);
    expect(first.labels).toBe(second.labels);
  });
});
