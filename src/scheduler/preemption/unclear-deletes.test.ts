import { describe, expect, it } from 'vitest';
import { UnreachableError } from '../../client/api-errors.ts';
import { gangFillsNode, lost, PreemptionStory, refused } from '../testing/preemption-story.ts';

/** Gang `low` of two on node a, which `high` needs. */
async function lowAndHigh(fails: PreemptionStory['fails'], args?: object): Promise<PreemptionStory> {
  const story = gangFillsNode(2, { args });
  story.fails = fails;
  story.pod('high', { cpu: 2, priority: 1000 });
  await story.run();
  return story;
}

/** The first delete of low-0 fails in this way, and the API rejects all later ones. */
function firstFails(error: () => Error, verb: 'delete' | 'evict' = 'delete'): PreemptionStory['fails'] {
  let isFirst = true;
  return (each, name) => {
    if (each !== verb || !name.startsWith('low')) return undefined;
    if (name !== 'low-0' || !isFirst) return refused();
    isFirst = false;
    return error();
  };
}

const bothMarked = ['mark low-0', 'mark low-1'];
const bothSpared = [...bothMarked, 'unmark low-0', 'unmark low-1'];

describe('a delete without a clear answer that the API did not carry out, and then rejects', () => {
  it('does not keep the marks on the group, nor evict it once the API accepts deletes again', async () => {
    const story = await lowAndHigh(firstFails(lost));
    await story.after(15);
    story.remove('high');
    await story.after(300);
    story.fails = () => undefined;
    await story.after(301);
    expect(story.sent).toEqual(bothSpared);
  });

  it('does not keep new members of the group from being scheduled', async () => {
    const story = await lowAndHigh(firstFails(lost));
    story.node('b', 1, { taints: ['only=low:NoSchedule'] });
    await story.after(15);
    story.remove('high');
    story.pod('more', { group: 'low', tolerations: [{ key: 'only', operator: 'Exists' }] });
    await story.after(300);
    expect(story.bound).toMatchObject({ more: 'b' });
  });

  it('does not keep other pods of the namespace from being preempted within their budgets', async () => {
    const story = await lowAndHigh(firstFails(lost, 'evict'), { podDisruptionBudgets: 'Enforce' });
    await story.after(15);
    story.remove('high');
    await story.after(100);
    story.node('b', 2);
    story.pod('other', { nodeName: 'b', cpu: 2 });
    story.pod('next', { cpu: 2, priority: 500 });
    await story.after(60);
    story.terminateAll();
    await story.after(60);
    expect(story.bound).toMatchObject({ next: 'b' });
  });

  it('does not make a user who deletes another member lose the rest of the group', async () => {
    let isFirst = true;
    const fails: PreemptionStory['fails'] = (verb) => {
      if (verb !== 'evict' || !isFirst) return undefined;
      isFirst = false;
      return lost();
    };
    const story = await lowAndHigh(fails, { podDisruptionBudgets: 'Enforce' });
    story.protects = () => true;
    await story.after(15);
    await story.after(15);
    story.holds = (verb) => verb === 'unmark' || verb === 'evict';
    story.remove('high');
    await story.core.settle();
    story.change('low-1', { deleting: true });
    await story.release();
    await story.after(60);
    expect(story.bound).toMatchObject({ 'low-0': 'a' });
  });
});

it('a delete that was not sent does not begin the eviction of the group', async () => {
  const story = await lowAndHigh((verb) =>
    verb === 'delete' ? new UnreachableError('no connection', { cause: undefined }) : undefined,
  );
  story.remove('high');
  story.fails = () => undefined;
  await story.after(301);
  expect(story.sent).toEqual(bothSpared);
});

it('a member beyond the quorum whose delete has no clear answer does not take the rest of the group with it', async () => {
  const story = gangFillsNode(3, { minMember: 2 });
  story.fails = (verb) => (verb === 'delete' ? lost() : undefined);
  story.pod('high', { priority: 1000 });
  await story.run();
  const victim = story.sent[0]!.slice('mark '.length);
  story.fails = () => undefined;
  story.holds = (verb) => verb === 'unmark';
  story.remove('high');
  await story.core.settle();
  const [other, rest] = ['low-0', 'low-1', 'low-2'].filter((name) => name !== victim);
  story.change(other!, { phase: 'Failed' });
  story.change(victim, { deleting: true });
  await story.release();
  await story.after(60);
  expect(Object.keys(story.bound)).toContain(rest);
});

it('a mark waits until the marks of a plan that ended during its evictions are taken back', async () => {
  const story = gangFillsNode(2, { args: { podDisruptionBudgets: 'Enforce' } });
  story.protects = () => true;
  story.holds = (verb) => verb === 'evict';
  story.pod('high', { cpu: 2, priority: 1000 });
  await story.run();
  story.lives = (verb) => {
    if (verb === 'evict' && story.stored('high') !== undefined) story.remove('high');
    return true;
  };
  await story.release((verb) => verb === 'unmark');
  story.lives = () => true;
  story.pod('next', { cpu: 2, priority: 1000 });
  await story.run();
  expect(story.sent).toEqual(bothMarked);
  await story.release();
  expect(story.sent.slice(0, 6)).toEqual([...bothSpared, ...bothMarked]);
});

describe('after a takeover', () => {
  /** The earlier process has marked a group, and ends before it has sent a delete. */
  async function takenOver(count: number): Promise<PreemptionStory> {
    const story = gangFillsNode(count);
    story.holds = (verb) => verb === 'delete';
    story.pod('high', { cpu: count, priority: 1000 });
    await story.run();
    story.lives = () => false;
    story.remove('high');
    await story.core.settle();
    return story;
  }

  it('the rest of a group has its marks again before it is deleted, so that it goes even if this process ends, too', async () => {
    const story = await takenOver(3);
    story.holds = (verb) => verb === 'unmark';
    story.takeOver();
    await story.core.settle();
    let deletes = 1;
    story.lives = (verb) => verb !== 'delete' || deletes-- > 0;
    story.changeUnseen('low-0', { deleting: true });
    story.hides = (verb) => verb === 'unmark';
    await story.release();
    story.reveal();
    await story.after(1);
    story.terminateAll();
    story.takeOver();
    await story.core.settle();
    await story.after(60);
    expect(story.bound).toEqual({});
  });

  it('a later plan that is given up spares the rest of the group again', async () => {
    const story = await takenOver(2);
    story.takeOver();
    await story.core.settle();
    await story.after(300);
    const before = story.sent.length;
    story.pod('later', { cpu: 2, priority: 1000 });
    story.holds = (verb) => verb === 'delete';
    await story.run();
    story.change('low-0', { deleting: true });
    story.remove('later');
    await story.release();
    story.change('low-0', { labels: { seen: 'again' } });
    await story.after(10);
    expect(story.sent.slice(before)).toEqual([...bothMarked, 'unmark low-1']);
  });

  it('events of members that terminate send no delete of the rest again', async () => {
    const count = 100;
    const story = new PreemptionStory();
    story.node('a', count);
    story.group('low', count);
    story.members('low', count, { nodeName: 'a' });
    let deletes = count / 2;
    story.lives = (verb) => verb !== 'delete' || deletes-- > 0;
    story.pod('high', { cpu: count, priority: 1000 });
    await story.run();
    const leaving = story.pods.filter(({ deleting }) => deleting);
    story.takeOver();
    story.holds = (verb) => verb === 'delete';
    let requests = 0;
    story.lives = (verb) => {
      if (verb === 'delete') requests++;
      return true;
    };
    await story.core.settle();
    for (const { name } of leaving) story.change(name, { labels: { seen: 'again' } });
    await story.core.settle();
    await story.release();
    expect(requests).toBe(count / 2);
  });
});

it.each([lost, refused])(
  'the rest of a group is not deleted before its marks are written, although marks fail at first: %o',
  async (error) => {
    const story = gangFillsNode(3, { minMember: 2 });
    story.pod('high', { priority: 1000 });
    await story.run();
    const victim = story.sent[0]!.slice('mark '.length);
    const [failed, rest] = ['low-0', 'low-1', 'low-2'].filter((name) => name !== victim);
    story.change(failed!, { phase: 'Failed' });
    story.fails = (verb) => (verb === 'mark' ? error() : undefined);
    story.takeOver();
    await story.after(5);
    expect(story.sent).toEqual([`mark ${victim}`, `delete ${victim}`]);
    story.fails = () => undefined;
    await story.after(15);
    expect(story.sent.slice(2)).toEqual([`mark ${rest}`, `delete ${rest}`]);
  },
);

describe('the marks of a group whose eviction an earlier process has begun', () => {
  /** The earlier process has deleted one of four members, and the marks of the others are gone. */
  async function begunWithoutMarks(): Promise<PreemptionStory> {
    const story = gangFillsNode(4);
    let deletes = 1;
    story.lives = (verb) => verb !== 'delete' || deletes-- > 0;
    story.pod('high', { cpu: 4, priority: 1000 });
    await story.run();
    for (const { name, deleting } of story.pods)
      if (!deleting && name.startsWith('low')) story.change(name, { preemptionMark: undefined });
    return story;
  }

  it('are tried again after a pause', async () => {
    const story = await begunWithoutMarks();
    let marks = 0;
    story.fails = (verb) => {
      if (verb !== 'mark') return undefined;
      marks++;
      return refused();
    };
    story.takeOver();
    await story.core.settle();
    expect(marks).toBe(3);
  });

  it('do not keep the rest from being deleted if the API refuses them for good', async () => {
    const story = await begunWithoutMarks();
    story.fails = (verb) => (verb === 'mark' ? refused() : undefined);
    story.takeOver();
    for (let i = 0; i < 10; i++) await story.after(300);
    expect(Object.keys(story.bound).filter((name) => name.startsWith('low'))).toEqual([]);
  });
});

it('a mark waits until an earlier one is taken back, also if that has failed before', async () => {
  const story = gangFillsNode(2);
  story.holds = (verb) => verb === 'delete';
  story.pod('high', { cpu: 2, priority: 1000 });
  await story.run();
  story.fails = (verb, name) => (verb === 'unmark' && name === 'low-0' ? refused() : undefined);
  story.remove('high');
  story.holds = () => false;
  await story.core.settle();
  story.fails = () => undefined;
  story.holds = (verb) => verb === 'unmark';
  await story.after(11);
  story.holds = (verb) => verb === 'unmark' || verb === 'delete';
  story.pod('next', { cpu: 2, priority: 1000 });
  await story.run();
  await story.release((verb) => verb === 'delete');
  expect(story.stored('low-0')!.preemptionMark).toBeDefined();
});
