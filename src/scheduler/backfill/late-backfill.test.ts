import { expect, test } from 'vitest';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { BackfillStory } from '../testing/backfill-story.ts';

test('BF11: pods that run for a little longer than declared cannot put a start off for ever', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) {
    story.core.node({ name: node, cpu: 4 });
    story.running(`old-${node}`, node, { runtime: '10m' }, 600);
  }
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  let count = 0;
  await story.pass(645, () => {
    for (let i = 0; i < 2; i++) story.pod(`small-${count}`, { runtime: '1s', job: `job-${count++}` }, 29);
  });
  expect(story.bound('big')).toBe(2);
  expect(story.started).toBeGreaterThan(100);
});

test('BF13: while a pod overruns, others are backfilled until its new expected end', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { runtime: '10m' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(900);
  story.pod('small', { runtime: '2m', job: 'small' }, 120);
  await story.pass(30);
  expect(story.bound('small')).toBe(1);
  story.pod('tall', { runtime: '10m', job: 'tall' }, 600);
  await story.pass(30);
  expect(story.bound('tall')).toBe(0);
});

test('BF12: a nomination by another component does not let a pod without a declared end pass', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { cpu: 4, runtime: '30m' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  expect(story.holders).toEqual(['big']);
  story.pod('nominated', { nominatedNodeName: 'a' });
  story.pod('short', { runtime: '5m', job: 'short' });
  await story.pass(10);
  expect([story.nodeOf('nominated'), story.nodeOf('short')]).toEqual([undefined, 'b']);
});

test('BF12: a group that preempts for lack of capacity does not evict pods for capacity that is reserved', async () => {
  const story = new BackfillStory();
  story.core.node({ name: 'a', cpu: 4 });
  for (let i = 0; i < 4; i++) story.running(`low-${i}`, 'a', { runtime: '30m' });
  story.pod('holder', { cpu: 4, priority: 10, runtime: '1h', spec: { preemptionPolicy: 'Never' } });
  await story.pass(70);
  expect(story.holders).toEqual(['holder']);
  story.pod('equal', { cpu: 4, priority: 10, runtime: '1h' });
  await story.pass(30);
  expect(story.core.harness.evicted).toEqual([]);
});

test('BF6: the replacement of a lost member goes before the entity for which its node is drained', async () => {
  const story = new BackfillStory({ drainAfterMs: 60_000 });
  for (const name of ['x', 'y']) story.core.node({ name, cpu: 4 });
  story.gang('started', 2, { cpu: 2 });
  await story.pass(5);
  story.pod('holder', {
    cpu: 4,
    runtime: '1h',
    nodeSelector: { 'kubernetes.io/hostname': story.nodeOf('started-0')! },
  });
  await story.pass(70);
  expect(story.holders).toEqual(['holder']);
  const node = story.nodeOf('started-0');
  story.running('full', node === 'x' ? 'y' : 'x', { cpu: 2 });
  story.remove('started-0');
  await story.pass(2);
  story.pod('started-2', { group: 'started', cpu: 2 });
  await story.pass(2);
  expect(story.nodeOf('started-2')).toBe(node);
});

test('BF6: an entity that drains nodes and a group on them whose replacement comes late do not wait for each other', async () => {
  const story = new BackfillStory({ drainAfterMs: 60_000 });
  for (const name of ['x', 'y']) story.core.node({ name, cpu: 4 });
  story.gang('started', 2, { cpu: 2 });
  await story.pass(5);
  story.gang('big', 2, { cpu: 4 });
  await story.pass(70);
  expect(story.holders).toEqual(['big']);
  story.remove('started-0');
  await story.pass(600);
  story.pod('started-2', { group: 'started', cpu: 2 });
  await story.pass(60);
  expect(story.bound('started')).toBe(2);
  for (const name of story.runningNames) story.end(name);
  await story.pass(60);
  expect(story.bound('big')).toBe(2);
});

test('BF13: a backfilled pod that declares a longer run time afterwards loses its credit', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { cpu: 4, runtime: '30m' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  story.pod('sly', { runtime: '1m', job: 'sly' });
  await story.pass(5);
  expect(story.nodeOf('sly')).toBe('b');
  story.core.change('sly', { runtimeSeconds: 36_000 });
  await story.pass(150);
  // The next prediction notices it.
  story.core.node({ name: 'c', cpu: 1 });
  await story.pass(35);
  expect(await story.metric('tutti_runtime_overruns_total')).toMatchObject([{ value: 1 }]);
  story.pod('sly-too', { cpu: 2, runtime: '1m', job: 'sly' });
  await story.pass(10);
  expect(story.nodeOf('sly-too')).toBeUndefined();
});

/** Pod `old` fills node a for half an hour, and a gang that needs both nodes waits for it. `hasTeam`: gang `team` has run on node b for a second. */
async function gangWithTurn({ hasTeam = false } = {}): Promise<BackfillStory> {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { cpu: 4, runtime: '30m' }, 1_800);
  if (hasTeam) {
    story.gang('team', 2, { runtime: '20m' }, 1_200);
    await story.pass(1);
  }
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  expect(story.holders).toEqual(['big']);
  return story;
}

test('BF14: a backfilled gang cannot stay by replacing one member after the other', async () => {
  const story = await gangWithTurn();
  const members = ['sly-0', 'sly-1'];
  story.gang('sly', 2, { cpu: 2, runtime: '20s', job: 'sly' });
  await story.pass(5);
  expect(story.bound('sly')).toBe(2);
  let count = members.length;
  const replaceFirst = (): void => {
    story.remove(members.shift()!);
    const name = `sly-${count++}`;
    members.push(name);
    story.pod(name, { group: 'sly', cpu: 2, runtime: '20s', job: 'sly' });
  };
  await story.pass(1_900, replaceFirst, 10);
  expect([story.bound('big'), story.bound('sly')]).toEqual([2, 0]);
  expect(count).toBeGreaterThan(170);
});

test('BF14: the replacement of a backfilled member must end before the start, too', async () => {
  const story = await gangWithTurn();
  story.gang('sly', 2, { cpu: 2, runtime: '2m', job: 'sly' });
  await story.pass(5);
  story.remove('sly-0');
  story.pod('sly-2', { group: 'sly', cpu: 2, job: 'sly' });
  await story.pass(5);
  expect(story.nodeOf('sly-2')).toBeUndefined();
});

test('BF14: the replacement of a member that runs since before the turn must not need more', async () => {
  const story = await gangWithTurn({ hasTeam: true });
  for (const [name, cpu] of [
    ['team-2', 1.5],
    ['team-3', 1],
  ] as const) {
    if (cpu > 1) story.remove('team-0');
    else story.remove('team-2');
    story.pod(name, { group: 'team', cpu });
    await story.pass(5);
    expect(story.nodeOf(name), name).toBe(cpu > 1 ? undefined : 'b');
  }
});

test('BF14: a replacement that needed more and had to end in time does not let the next one need as much', async () => {
  const story = await gangWithTurn({ hasTeam: true });
  story.remove('team-0');
  story.pod('team-2', { group: 'team', cpu: 3, runtime: '1m', job: 'large' });
  await story.pass(20);
  expect(story.nodeOf('team-2')).toBe('b');
  story.remove('team-2');
  story.pod('team-3', { group: 'team', cpu: 3 });
  await story.pass(5);
  expect(story.nodeOf('team-3')).toBeUndefined();
});

test.each([
  { sizes: [3, 3], passes: false },
  { sizes: [1, 3], passes: true },
])('BF14: replacements of members with 3 and 1 cores need no more together: $sizes', async ({ sizes, passes }) => {
  const story = new BackfillStory();
  for (const node of ['a', 'b', 'c']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { cpu: 4, runtime: '30m' }, 1_800);
  story.core.group({ name: 'team', minMember: 3 });
  const on = (name: string): PodOptions => ({ group: 'team', nodeSelector: { 'kubernetes.io/hostname': name } });
  story.pod('team-0', { cpu: 3, runtime: '20m', ...on('b') });
  story.pod('team-1', { cpu: 1, runtime: '20m', ...on('c') });
  story.pod('team-2', { cpu: 1, runtime: '20m', ...on('b') });
  await story.pass(1);
  story.gang('big', 3, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  expect(story.holders).toEqual(['big']);
  for (const name of ['team-0', 'team-1']) story.remove(name);
  story.pod('team-3', { cpu: sizes[0], ...on('c') });
  story.pod('team-4', { cpu: sizes[1], ...on('b') });
  await story.pass(5);
  expect([story.nodeOf('team-3'), story.nodeOf('team-4')]).toEqual(passes ? ['c', 'b'] : [undefined, undefined]);
});

test('BF16: an entity gets no turn for capacity that is reserved for a lost member of another group', async () => {
  const story = new BackfillStory({ reserveAfterMs: 5_000 });
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  const onlyOnA = { nodeSelector: { 'kubernetes.io/hostname': 'a' } };
  story.running('old', 'b', { cpu: 4, runtime: '30m' });
  story.gang('team', 2, { cpu: 2, ...onlyOnA });
  await story.pass(5);
  story.remove('team-0');
  story.pod('late', { cpu: 2, ...onlyOnA });
  await story.pass(30);
  expect([story.holders, story.nodeOf('late')]).toEqual([[], undefined]);
});

test('BF15: an entity keeps its turn while capacity on its nodes is reserved for a lost member of another group', async () => {
  const story = await gangWithTurn({ hasTeam: true });
  story.pod('long');
  story.remove('team-0');
  await story.pass(50);
  expect([...story.core.harness.cluster.reservations()].map(({ kind }) => kind)).toContain('repair');
  expect([story.holders.includes('big'), story.nodeOf('long')]).toEqual([true, undefined]);
  await story.pass(1_900);
  expect(story.bound('big')).toBe(2);
});
