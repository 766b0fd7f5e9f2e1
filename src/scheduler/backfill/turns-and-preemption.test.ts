import { expect, it, test } from 'vitest';
import { preemptionReason } from '../../api/pod.ts';
import { BackfillStory } from '../testing/backfill-story.ts';
import { TurnStory } from '../testing/turn-story.ts';

const longAgo = Date.UTC(2025, 0, 1);

/** A new process finds pod `next`, which has waited for long and never preempts, and node `a`, which two pods of low priority fill. */
function fullNode(): TurnStory {
  const story = new TurnStory({ reserveAfterMs: 1_000, drainAfterMs: 1_000 }, 'listing');
  story.node('a', 2);
  for (const name of ['low-0', 'low-1']) story.pod(name, { nodeName: 'a', priority: -1 });
  const nodeSelector = { 'kubernetes.io/hostname': 'a' };
  story.pod('next', { createdAt: longAgo, nodeSelector, spec: { preemptionPolicy: 'Never' } });
  return story;
}

test('I9: a turn on the node of a preemption does not end it, because the preemptor need not respect the turn', async () => {
  const story = fullNode();
  story.pod('preemptor', { createdAt: longAgo - 1_000 });
  story.queueing.start();
  await story.after(10);
  expect(story.reserved).toEqual({ a: ['next'] });
  const { marks, evicted } = story.queueing.harness;
  expect({ marks, evicted }).toEqual({ marks: ['+low-1'], evicted: ['low-1'] });
  story.ends('low-1');
  await story.after(1);
  expect(story.started.has('preemptor')).toBe(true);
});

it('lets a partially bound gang that goes first preempt on a node that is drained for the turn of another entity', async () => {
  const story = fullNode();
  story.node('b', 1);
  story.queueing.group({ name: 'torn', minMember: 2 });
  story.pod('torn-0', { group: 'torn', nodeName: 'b' });
  story.queueing.change('torn-0', { plannedGroupUid: 'torn', plannedQuorum: 2 });
  story.queueing.start();
  await story.after(5);
  expect(story.reserved).toEqual({ a: ['next'] });
  story.pod('torn-1', { group: 'torn' });
  await story.run();
  const { evicted, warnings } = story.queueing.harness;
  expect({ evicted, warnings }).toEqual({ evicted: ['low-1'], warnings: [] });
});

test('a preemptor does not take capacity that is reserved for a higher priority', async () => {
  const story = new TurnStory({ reserveAfterMs: 1_000 });
  story.node('a', 4);
  story.pod('victim', { nodeName: 'a', cpu: 3, priority: -1, runtime: '20m' });
  story.pod('old', { nodeName: 'a', priority: 10, runtime: '30m', runs: 1_800 });
  await story.after(1);
  story.pod('preemptor', { cpu: 3, runtime: '10h', runs: 36_000 });
  await story.after(1);
  expect(story.queueing.harness.evicted).toEqual(['victim']);
  story.pod('next', { cpu: 4, priority: 10, runtime: '1h', spec: { preemptionPolicy: 'Never' } });
  await story.after(10);
  expect(story.reserved).toEqual({ a: ['next'] });
  story.ends('victim');
  await story.after(1_800);
  expect([story.started.has('preemptor'), story.started.get('next')]).toEqual([false, 1_800]);
});

test('I4: a turn does not follow a preemptor of a lower priority from node to node', async () => {
  const story = new BackfillStory();
  for (const [i, name] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) {
    story.core.node({ name, cpu: 4 });
    story.running(`low-${name}`, name, { cpu: 4, priority: -1, runtime: `${20 + i}m` }, (20 + i) * 60);
  }
  story.gang('big', 3, { cpu: 4, priority: 10, runtime: '1h', spec: { preemptionPolicy: 'Never' } });
  await story.pass(70);
  expect(story.holders).toEqual(['big']);
  story.pod('preemptor', { cpu: 4, priority: 5, runtime: '1h' });
  await story.run();
  const { evicted } = story.core.harness;
  expect(evicted).toHaveLength(1);
  const [victim] = evicted;
  const deletionTimestamp = story.now / 1000 + 120;
  story.core.change(victim!, { deleting: true, deletionTimestamp, disruptedBy: preemptionReason });
  await story.pass(120);
  story.remove(victim!);
  await story.pass(600);
  expect(story.bound('preemptor')).toBe(1);
  expect(evicted).toEqual([victim]);
});
