import { expect, test } from 'vitest';
import { predictedStartCondition } from '../../api/predicted-start.ts';
import { BackfillStory } from '../testing/backfill-story.ts';
import { TurnStory } from '../testing/turn-story.ts';

/** Two pools of one node each, in use for a long time. */
function twoPools(): BackfillStory {
  const story = new BackfillStory({ poolLabel: 'pool' });
  for (const name of ['a', 'b']) {
    story.core.node({ name, cpu: 2, labels: { pool: name } });
    story.running(`old-${name}`, name, { runtime: '1000m' });
  }
  return story;
}

test('BF14: gangs that no single pool can hold do not keep others from a turn', async () => {
  const story = twoPools();
  for (let i = 1; i <= 8; i++) story.gang(`wide-${i}`, 2, { cpu: 2, runtime: `${i}h` });
  await story.pass(5);
  story.pod('one', { cpu: 2, runtime: '1h' });
  await story.pass(180);
  expect(story.holders).toEqual(['one']);
});

test('BF14: entities whose pool is taken do not keep others from a turn in another pool', async () => {
  const story = twoPools();
  for (let i = 0; i < 8; i++) {
    story.pod(`a${i}`, { cpu: 2, runtime: `${i + 1}h`, nodeSelector: { pool: 'a' } });
    await story.pass(1);
  }
  story.pod('b0', { cpu: 2, runtime: '1h', nodeSelector: { pool: 'b' } });
  await story.pass(180);
  expect(story.holders).toEqual(['a0', 'b0']);
  // The next one in order gets the turn in the pool at once.
  story.remove('a0');
  await story.pass(10);
  expect(story.holders).toEqual(['b0', 'a1']);
});

test('BF16: of many equal gangs that no pool can hold, one is tried now and then', async () => {
  const story = twoPools();
  for (let i = 0; i < 200; i++) story.gang(`wide-${i}`, 2, { cpu: 2, runtime: '1h' });
  await story.pass(5);
  story.pod('one', { cpu: 2, runtime: '1h' });
  await story.pass(3_600, undefined, 30);
  expect(story.holders).toEqual(['one']);
  expect(story.results.rejected).toBeLessThan(50);
});

test('BF14: an entity gets a turn in its pool however many pools there are', async () => {
  const story = new BackfillStory({ poolLabel: 'pool' });
  for (let i = 100; i < 140; i++) {
    story.core.node({ name: `n${i}`, cpu: 2, labels: { pool: `p${i}` } });
    story.running(`old-${i}`, `n${i}`, { cpu: 2, runtime: '1000m' });
  }
  story.pod('wide', { cpu: 2, runtime: '1h', nodeSelector: { pool: 'p139' } });
  await story.pass(120);
  expect(story.reserved).toEqual({ wide: 'n139' });
});

test('a new process gives a gang its turn again before it starts others, although the prediction for one ahead fails', async () => {
  const since = Date.UTC(2025, 0, 1);
  const story = new TurnStory({ drainAfterMs: 10 * 365 * 86_400_000 }, 'listing');
  for (const node of ['a', 'b', 'c']) story.node(node, 4);
  story.pod('unknown', { cpu: 4, nodeName: 'c' });
  story.pod('old', { cpu: 4, nodeName: 'a', runtime: '30m' });
  story.pod('ahead', { cpu: 4, nodeSelector: { 'kubernetes.io/hostname': 'c' }, createdAt: since });
  const shown = { type: predictedStartCondition, status: 'True', reason: 'Declared', message: '2026-01-01T00:30:00Z' };
  story.queueing.group({ name: 'big', minMember: 2, createdAt: since + 1_000 });
  for (const conditions of [[shown], []])
    story.pod(`big-${conditions.length}`, { group: 'big', cpu: 4, createdAt: since + 1_000, conditions });
  story.pod('long', { createdAt: since + 2_000 });
  story.queueing.start();
  await story.after(30);
  expect(Object.values(story.reserved).flat().sort()).toEqual(['big-0', 'big-1']);
  expect(story.started.has('long')).toBe(false);
});

/** Many pods of namespace `other` with an affinity to a pod on node a, beside which none of them fits. */
async function othersFail(story: BackfillStory, count: number): Promise<void> {
  for (const name of ['a', 'b']) story.core.node({ name, cpu: 4 });
  const labels = { app: 'there' };
  story.running('there', 'a', { runtime: '300m', labels });
  story.running('old-a', 'a', { cpu: 3, runtime: '30m' }, 1_800);
  const term = {
    labelSelector: { matchLabels: labels },
    namespaces: ['default'],
    topologyKey: 'kubernetes.io/hostname',
  };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  for (let i = 0; i < count; i++)
    story.pod(`never-${i}`, { namespace: 'other', cpu: `${3_010 + i}m`, spec: { affinity } });
  await story.pass(5);
}

test('I10: older pods of one namespace for which all predictions fail do not delay the turn of another namespace', async () => {
  const story = new BackfillStory();
  await othersFail(story, 30);
  story.running('old-b', 'b', { runtime: '30m' }, 1_800);
  story.pod('big', { cpu: 4, runtime: '1h' });
  await story.pass(90);
  expect(story.holders).toEqual(['big']);
});

test('I10: nor do they if a prediction has failed in the other namespace, too', async () => {
  const story = new BackfillStory({ drainAfterMs: 300_000 });
  await othersFail(story, 30);
  story.running('endless', 'b');
  story.pod('big', { cpu: 4, nodeSelector: { 'kubernetes.io/hostname': 'b' } });
  await story.pass(330);
  expect(story.holders).toEqual(['big']);
});
