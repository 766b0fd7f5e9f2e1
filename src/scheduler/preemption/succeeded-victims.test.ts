import { describe, expect, it } from 'vitest';
import { ServerError } from '../../client/api-errors.ts';
import { oneGang } from '../testing/preemption-story.ts';
import type { PreemptionStory } from '../testing/preemption-story.ts';

/** Gang `low` of four makes way for `high`. Node `b` has capacity for three of its replacements. */
function preempted(): PreemptionStory {
  const story = oneGang();
  story.node('b', 3, { taints: ['only=low:NoSchedule'] });
  story.pod('high', { cpu: 4, priority: 1000 });
  return story;
}

/** The members that are gone are replaced. Resolves to the names of the bound replacements. */
async function replaced(story: PreemptionStory): Promise<string[]> {
  story.terminateAll();
  for (let i = 0; i < 4; i++) {
    if (story.stored(`low-${i}`) !== undefined || story.stored(`again-${i}`) !== undefined) continue;
    story.pod(`again-${i}`, { group: 'low', tolerations: [{ key: 'only', operator: 'Exists' }] });
  }
  await story.after(5);
  return Object.keys(story.bound).filter((name) => name.startsWith('again'));
}

const isDelete = (verb: string, name: string): boolean => verb === 'delete' && name === 'low-0';

describe('I4: a victim that succeeds between its mark and its delete', () => {
  it('stays, so that the replacements of the others make up the quorum with it', async () => {
    const story = preempted();
    story.holds = isDelete;
    await story.run();
    story.change('low-0', { phase: 'Succeeded' });
    expect(await replaced(story)).toEqual(['again-1', 'again-2', 'again-3']);
    await story.release();
    expect(story.stored('low-0')?.deleting).toBe(false);
    expect(story.bound).toHaveProperty('high', 'a');
    expect(story.core.harness.cluster.gang('default/low')!.missing).toBe(0);
  });

  it('does not count once the watch is only late to show its delete', async () => {
    const story = preempted();
    story.hides = isDelete;
    await story.run();
    story.change('low-0', { deleting: false, phase: 'Succeeded' });
    expect(await replaced(story)).toEqual([]);
    story.change('low-0', { deleting: true });
    expect(await replaced(story)).toEqual([]);
    story.node('c', 1, { taints: ['only=low:NoSchedule'] });
    await story.after(5);
    expect(await replaced(story)).toHaveLength(4);
  });

  it('does not count until the answer to its delete is known', async () => {
    const story = preempted();
    const error = new ServerError('no answer', { status: 500, reason: '', request: '', causes: [] });
    story.fails = (verb, name) => (isDelete(verb, name) ? error : undefined);
    await story.run();
    story.change('low-0', { phase: 'Succeeded' });
    expect(await replaced(story)).toEqual([]);
    story.fails = () => undefined;
    await story.after(20);
    expect(story.stored('low-0')?.deleting).toBe(true);
    expect(await replaced(story)).toEqual([]);
  });
});
