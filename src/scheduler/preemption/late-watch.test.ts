import { describe, expect, it } from 'vitest';
import { gangFillsNode, lost, refused } from '../testing/preemption-story.ts';
import type { PreemptionStory } from '../testing/preemption-story.ts';

/** Gang `low` of two on one node, which `high` needs. */
function twoOnOneNode(): PreemptionStory {
  const story = gangFillsNode(2);
  story.pod('high', { cpu: 2, priority: 1000 });
  return story;
}

describe('a group of which a member was deleted, although the watch does not show that when its marks are taken back', () => {
  it('is evicted to its end if the delete had no clear answer', async () => {
    const story = twoOnOneNode();
    story.hides = (verb) => verb === 'delete';
    story.fails = (verb, name) => (verb !== 'delete' ? undefined : name === 'low-0' ? lost() : refused());
    story.loses = (_verb, name) => name === 'low-0';
    await story.run();
    story.fails = (verb) => (verb === 'delete' ? refused() : undefined);
    story.loses = () => false;
    await story.after(11);
    story.fails = () => undefined;
    story.remove('high');
    await story.core.settle();
    story.reveal();
    await story.after(60);
    expect(story.bound).toEqual({});
  });

  it('is evicted to its end if an earlier process has sent the delete', async () => {
    const story = twoOnOneNode();
    story.holds = (verb) => verb === 'delete';
    await story.run();
    story.lives = () => false;
    story.remove('high');
    await story.core.settle();
    story.holds = (verb) => verb === 'unmark';
    story.takeOver();
    await story.core.settle();
    story.changeUnseen('low-0', { deleting: true });
    story.hides = (verb) => verb === 'unmark';
    await story.release();
    story.reveal();
    await story.after(60);
    expect(story.bound).toEqual({});
  });

  it('keeps its other members if no process has sent the delete', async () => {
    const story = twoOnOneNode();
    story.holds = (verb) => verb === 'delete' || verb === 'unmark';
    await story.run();
    story.remove('high');
    story.changeUnseen('low-0', { deleting: true });
    story.hides = (verb) => verb === 'unmark';
    await story.release();
    story.reveal();
    await story.after(60);
    expect(story.sent).toEqual(['mark low-0', 'mark low-1', 'unmark low-0', 'unmark low-1']);
  });
});

it('a mark that one plan left to another, which ends before it has sent its own, is taken back', async () => {
  const story = gangFillsNode(2);
  story.holds = (verb, name) => verb === 'mark' && name === 'low-0';
  story.pod('first', { cpu: 2, priority: 100 });
  await story.run();
  story.pod('second', { cpu: 2, priority: 1000 });
  await story.run();
  for (const name of ['second', 'first']) story.remove(name);
  await story.release();
  expect(story.pods.filter(({ preemptionMark }) => preemptionMark !== undefined)).toEqual([]);
});
