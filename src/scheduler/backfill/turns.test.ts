import { describe, expect, it } from 'vitest';
import { bigGangWaits, TurnStory } from '../testing/turn-story.ts';

const notStarted = {
  type: 'Started',
  status: 'False',
  reason: 'QuorumNotReached',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

it('reserves no capacity before the gang has waited for reserveAfterSeconds', async () => {
  const story = new TurnStory({ reserveAfterMs: 30_000 });
  story.node('a', 4);
  story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s' });
  story.gang('big', 1, { cpu: 4 });
  await story.after(29);
  expect(story.reserved).toEqual({});
  await story.after(2);
  expect(story.reserved).toEqual({ a: ['big-0'] });
});

describe('a gang that waits for capacity', () => {
  it('starts at the declared end, although smaller pods keep coming', async () => {
    const story = await bigGangWaits();
    for (let i = 0; story.now < 600; i++) {
      story.pod(`small-${i}`, { cpu: 1, runs: 300 });
      await story.after(10);
    }
    await story.after(15);
    expect(story.started.get('big-0')).toBeGreaterThanOrEqual(600);
    expect(story.started.get('big-1')).toBeLessThan(610);
  });

  it('has a predicted start, and its verdict says by when and how certain', async () => {
    const story = await bigGangWaits();
    expect(story.predictedStartOf('big-0')).toBe(600);
    const { message, waitsFor, reason } = story.queueing.harness.core.verdictOf('big-0')!;
    expect({ waitsFor, reason }).toEqual({ waitsFor: 'capacity', reason: 'Unschedulable' });
    expect(message).toContain(
      'Waiting for capacity: 2 nodes reserved, expected to start by 00:10Z (all ends declared).',
    );
  });

  it('lets a pod pass that declares to end before, and no other', async () => {
    const story = await bigGangWaits();
    story.pod('short', { runtime: '8m', runs: 480 });
    story.pod('long', { runtime: '10m', runs: 600 });
    story.pod('undeclared');
    await story.after(1);
    expect([...story.started.keys()]).toEqual(['old', 'short']);
    const verdict = story.queueing.harness.core.verdictOf('undeclared')!;
    expect(verdict).toMatchObject({ reason: 'WaitingForTurn', waitsFor: 'turn' });
    // Nothing follows about preemption, which it does not need.
    expect(verdict.message).toMatch(
      /\. Capacity is reserved for default\/big, which starts by 00:10Z; a declared runtime of at most 8m would fit before\.$/,
    );
    await story.after(600);
    expect(story.started.get('big-0')).toBeLessThan(610);
  });

  it('starts earlier when a pod ends earlier than declared', async () => {
    const story = await bigGangWaits();
    story.ends('old');
    await story.after(15);
    expect([...story.started.keys()]).toContain('big-0');
  });

  it('keeps its turn and moves its start while a pod runs for longer than declared', async () => {
    const story = new TurnStory();
    for (const name of ['a', 'b']) story.node(name, 4);
    story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s', runs: 900 });
    story.gang('big', 2, { cpu: 4 });
    await story.after(700);
    expect(story.predictedStartOf('big-0')).toBeGreaterThan(700);
    expect(story.queueing.harness.core.verdictOf('big-0')!.predictedStart!.confidence).toBe('Estimated');
    expect(await story.queueing.harness.registry.getSingleMetricAsString('tutti_runtime_overruns_total')).toContain(
      'tutti_runtime_overruns_total 1',
    );
    await story.after(220);
    expect(story.started.get('big-0')).toBeLessThan(915);
  });

  it('loses its reservations as a whole when it is deleted, and the next one waits for its own turn', async () => {
    const story = await bigGangWaits();
    story.pod('next', { cpu: 1 });
    await story.after(1);
    expect(story.started.has('next')).toBe(false);
    story.queueing.removePod('big-0');
    expect(story.reserved).toEqual({});
    await story.after(2);
    expect(story.started.has('next')).toBe(true);
  });

  it('loses its turn to one of higher priority that waits as well', async () => {
    const story = await bigGangWaits();
    story.gang('high', 2, { cpu: 4, priority: 10, spec: { preemptionPolicy: 'Never' } });
    await story.after(30);
    expect(Object.values(story.reserved).flat()).toEqual(['big-0', 'big-1']);
    await story.after(32);
    expect(Object.values(story.reserved).flat()).toEqual(['high-0', 'high-1']);
  });

  it('gets no turn if it can never fit', async () => {
    const story = new TurnStory();
    story.node('a', 4);
    story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s' });
    story.gang('huge', 2, { cpu: 4 });
    await story.after(120);
    expect(story.reserved).toEqual({});
  });

  it('moves to other nodes when one of its nodes is cordoned', async () => {
    const story = new TurnStory();
    for (const name of ['a', 'b']) {
      story.node(name, 4);
      story.pod(`old-${name}`, { nodeName: name, cpu: 4, runtime: name === 'a' ? '600s' : '900s' });
    }
    story.pod('big', { cpu: 4 });
    await story.after(61);
    expect(story.reserved).toEqual({ a: ['big'] });
    story.queueing.node({ name: 'a', cpu: 4, memory: '64Gi', unschedulable: true });
    expect(story.reserved).toEqual({});
    await story.after(2);
    expect(story.reserved).toEqual({ b: ['big'] });
  });
});

describe.each([
  ['Kubernetes itself without a quorum', 'basic'],
  ['scheduling.x-k8s.io beyond the quorum', 'extra'],
])('a member of a group of %s', (_, kind) => {
  /** One node of 4 CPUs, one of which is free until second 600. Member `first` needs all of them; `second` came later and needs one. */
  async function firstWaits(): Promise<TurnStory> {
    const story = new TurnStory();
    story.node('a', 4);
    story.pod('old', { nodeName: 'a', cpu: 3, runtime: '600s', runs: 600 });
    const group = kind === 'basic' ? { schedulingGroup: 'red' } : { group: 'red' };
    if (kind === 'basic') {
      story.queueing.nativeGroup({ name: 'red' });
    } else {
      story.node('b', 1);
      story.queueing.group({ name: 'red', minMember: 1 });
      story.pod('zeroth', { ...group, nodeName: 'b' });
    }
    story.pod('first', { ...group, cpu: 4 });
    await story.after(61);
    expect(story.reserved).toEqual({ a: ['first'] });
    story.pod('second', { ...group, runs: 1200 });
    return story;
  }

  it('does not take the capacity that is reserved for an older member', async () => {
    const story = await firstWaits();
    await story.after(1);
    expect(story.verdicts.get('second')).toMatchObject({ reason: 'WaitingForTurn', waitsFor: 'turn' });
    await story.after(550);
    expect(story.started.get('first')).toBeLessThan(610);
    expect(story.started.has('second')).toBe(false);
  });

  it('starts when the older member is gone', async () => {
    const story = await firstWaits();
    await story.after(1);
    story.queueing.removePod('first');
    await story.after(2);
    expect(story.started.has('second')).toBe(true);
  });
});

it('a member of a basic group waits for the declared end of another one', async () => {
  const story = new TurnStory();
  story.node('a', 4);
  story.queueing.nativeGroup({ name: 'red' });
  story.pod('first', { schedulingGroup: 'red', nodeName: 'a', cpu: 4, runtime: '600s', runs: 600 });
  story.pod('second', { schedulingGroup: 'red', cpu: 4 });
  await story.after(61);
  expect(story.reserved).toEqual({ a: ['second'] });
  expect(story.verdicts.get('second')?.message).toContain('expected to start by');
});

describe('a gang whose members must spread', () => {
  /** Adds a gang with a member for each of these CPU requests. The order among equal nodes depends on the name. */
  function spreadGang(story: TurnStory, name: string, topologyKey: string, cpus: readonly string[]): void {
    const labels = { app: name };
    const constraint = { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule' } as const;
    const spec = { topologySpreadConstraints: [{ ...constraint, labelSelector: { matchLabels: labels } }] };
    story.queueing.group({ name, minMember: cpus.length });
    for (const [i, cpu] of cpus.entries()) story.pod(`${name}-${i}`, { group: name, cpu, labels, spec });
  }

  /** Expects that the gang has reservations, and that they stay where they are. The second prediction may need fewer of the nodes. */
  async function expectToKeepItsNodes(story: TurnStory): Promise<void> {
    await story.after(100);
    const { reserved } = story;
    expect(reserved).not.toEqual({});
    for (let i = 0; i < 15; i++) {
      await story.after(10);
      expect(story.reserved).toEqual(reserved);
    }
  }

  it('keeps its turn while nothing changes', async () => {
    const story = new TurnStory({ drainAfterMs: 60_000 });
    for (const [name, cpu] of Object.entries({ a: 2, b: 4, c: 2 }))
      story.node(name, cpu, { 'kubernetes.io/hostname': name });
    story.pod('old', { nodeName: 'a' });
    spreadGang(story, 'big', 'kubernetes.io/hostname', ['1500m', '2', '1500m', '1', '500m']);
    await expectToKeepItsNodes(story);
  });

  it('keeps the nodes that it drains, although no strategy finds the same plan again', async () => {
    const story = new TurnStory({ drainAfterMs: 60_000 });
    for (const [i, [zone, cpu]] of (
      [
        ['b', 2],
        ['a', 2],
        ['a', 2],
        ['a', 4],
        ['b', 1],
      ] as const
    ).entries())
      story.node(`n${i}`, cpu, { zone });
    story.pod('short', { nodeName: 'n0', cpu: '500m', runtime: '7000s' });
    for (const [nodeName, cpu] of Object.entries({ n0: '1500m', n3: '1', n4: '500m' }))
      story.pod(`on-${nodeName}`, { nodeName, cpu });
    spreadGang(story, 'g0', 'zone', ['2', '1', '1', '2']);
    await expectToKeepItsNodes(story);
  });
});

describe('a gang that waits for pods without a declared end', () => {
  it('drains the nodes with the fewest of them after drainAfterSeconds', async () => {
    const story = new TurnStory();
    for (const name of ['a', 'b']) story.node(name, 4);
    for (let i = 0; i < 4; i++) story.pod(`a-${i}`, { nodeName: 'a' });
    for (let i = 0; i < 2; i++) story.pod(`b-${i}`, { nodeName: 'b', cpu: 2 });
    story.pod('big', { cpu: 4 });
    await story.after(599);
    expect(story.reserved).toEqual({});
    await story.after(12);
    expect(story.reserved).toEqual({ b: ['big'] });
    expect(story.queueing.harness.core.verdictOf('big')!.message).toContain(
      'Waiting for capacity: 1 node reserved, draining pods that declare no end.',
    );
    story.ends('b-0');
    story.pod('small', { cpu: 1 });
    await story.after(5);
    expect(story.started.has('small')).toBe(false);
    story.ends('b-1');
    await story.after(15);
    expect(story.started.has('big')).toBe(true);
  });

  it('estimates ends from the last two pods of the same owner', async () => {
    const story = new TurnStory();
    story.node('a', 4);
    for (const [i, runs] of [100, 200].entries()) {
      story.pod(`done-${i}`, { nodeName: 'a', cpu: 4, job: 'train', runs });
      await story.after(runs + 1);
    }
    story.pod('old', { nodeName: 'a', cpu: 4, job: 'train' });
    const since = story.now;
    story.pod('big', { cpu: 4 });
    await story.after(61);
    expect(story.predictedStartOf('big')).toBe(since + 150);
    expect(story.queueing.harness.core.verdictOf('big')!.predictedStart!.confidence).toBe('Estimated');
  });
});

describe('pools', () => {
  it('lose a turn whose node moves to another pool', async () => {
    const story = new TurnStory({ poolLabel: 'pool' });
    story.node('a', 4, { pool: 'x' });
    story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s' });
    story.pod('big', { cpu: 4 });
    await story.after(61);
    expect(story.reserved).toEqual({ a: ['big'] });
    story.node('a', 4, { pool: 'y' });
    expect(story.reserved).toEqual({});
    await story.after(2);
    expect(story.reserved).toEqual({ a: ['big'] });
  });

  it('have one turn each, and a gang holds in one at a time', async () => {
    const story = new TurnStory({ poolLabel: 'pool' });
    for (const pool of ['x', 'y']) {
      story.node(pool, 4, { pool });
      story.pod(`old-${pool}`, { nodeName: pool, cpu: 4, runtime: pool === 'x' ? '600s' : '900s' });
    }
    for (const name of ['first', 'second', 'third']) story.pod(name, { cpu: 4 });
    await story.after(62);
    expect(story.reserved).toEqual({ x: ['first'], y: ['second'] });
  });

  it('give no turn to a gang that fits into none of them', async () => {
    const story = new TurnStory({ poolLabel: 'pool' });
    for (const pool of ['x', 'y']) {
      story.node(pool, 4, { pool });
      story.pod(`old-${pool}`, { nodeName: pool, cpu: 4, runtime: '600s' });
    }
    story.gang('wide', 2, { cpu: 4 });
    await story.after(120);
    expect(story.reserved).toEqual({});
  });
});

it('a new process gives the turn to the same gang before it starts another pod', async () => {
  const story = new TurnStory({}, 'listing');
  for (const name of ['a', 'b']) story.node(name, 4);
  story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s' });
  story.gang('big', 2, { cpu: 4, createdAt: Date.UTC(2025, 0, 1) });
  story.queueing.group({ name: 'big', minMember: 2, createdAt: Date.UTC(2025, 0, 1) });
  story.pod('small', { createdAt: Date.UTC(2025, 0, 2) });
  story.queueing.start();
  await story.after(1);
  expect(Object.values(story.reserved).flat()).toEqual(['big-0', 'big-1']);
  expect(story.started.has('small')).toBe(false);
});

it('wakes none of many equal gangs when the predicted start moves', async () => {
  const story = await bigGangWaits();
  for (let i = 0; i < 50; i++) story.gang(`other-${i}`, 2, { cpu: 4 });
  await story.after(61);
  const attempts = (): number => [...story.queueing.queue.entities()].reduce((sum, { attempts: n }) => sum + n, 0);
  const before = attempts();
  story.queueing.change('old', { runtimeSeconds: 1200 });
  await story.after(31);
  expect(attempts() - before).toBeLessThan(5);
});

it('wakes a pod that ends in time once the predicted start has moved', async () => {
  const story = await bigGangWaits();
  story.pod('medium', { runtime: '900s', runs: 900 });
  await story.after(5);
  expect(story.started.has('medium')).toBe(false);
  story.queueing.change('old', { runtimeSeconds: 1200 });
  await story.after(45);
  expect(story.started.has('medium')).toBe(true);
});

it('ignores what further pods of an owner declare after one ran for longer', async () => {
  const story = new TurnStory();
  for (const name of ['a', 'b']) story.node(name, 4);
  story.pod('old', { nodeName: 'a', cpu: 4, runtime: '600s' });
  story.pod('liar', { nodeName: 'b', runtime: '1s', job: 'cheat' });
  story.gang('big', 2, { cpu: 4 });
  await story.after(100);
  story.pod('again', { runtime: '1s', job: 'cheat' });
  story.pod('honest', { runtime: '1s', job: 'other' });
  await story.after(2);
  expect(story.started.has('again')).toBe(false);
  expect(story.started.has('honest')).toBe(true);
});

it('does not keep a partially bound gang that must respect it on its nodes after its grace period', async () => {
  const story = await bigGangWaits();
  story.node('c', 1);
  story.queueing.group({ name: 'red', minMember: 2, status: { conditions: [notStarted] } });
  story.pod('red-0', { group: 'red', owner: 'job', nodeName: 'c' });
  story.pod('red-1', { group: 'red', owner: 'job' });
  await story.after(59);
  expect(story.verdicts.get('red-1')).toMatchObject({ reason: 'WaitingForTurn' });
  expect(story.queueing.harness.released).toEqual([]);
  await story.after(2);
  expect(story.queueing.harness.released).toEqual(['red-0']);
});
