import { describe, expect, it } from 'vitest';
import { projectListed } from '../../api/listed-object.ts';
import type { ListedObject } from '../../api/listed-object.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';

function budget(name: string, disruptionsAllowed: number, app: string): ListedObject {
  const metadata = { name, namespace: 'default', uid: name, resourceVersion: '1' };
  return projectListed('PodDisruptionBudget', {
    metadata,
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed },
  });
}

/** A story with `podDisruptionBudgets: Enforce`, with nodes of one core that each run a pod of priority 0 with this label. */
function open(apps: Readonly<Record<string, string>> = {}): PreemptionStory {
  const story = new PreemptionStory('DefaultPreemption', { podDisruptionBudgets: 'Enforce' });
  for (const [node, app] of Object.entries(apps)) {
    story.node(node, 1);
    story.pod(`old-${node}`, { nodeName: node, labels: { app } });
  }
  return story;
}

function add(story: PreemptionStory, ...budgets: readonly ListedObject[]): void {
  for (const each of budgets) story.core.harness.core.handlers.listed.onAdd(each);
}

/** A group of four on one node, and a pod of higher priority that needs the node. */
function gangInTheWay(allowed: number): PreemptionStory {
  const story = open();
  story.node('a', 4);
  story.group('low', 4);
  story.members('low', 4, { nodeName: 'a', labels: { app: 'web' } });
  add(story, budget('web', allowed, 'web'));
  story.pod('high', { priority: 1000 });
  return story;
}

function sent(story: PreemptionStory, verb: string): readonly string[] {
  return story.sent.filter((each) => each.startsWith(`${verb} `)).map((each) => each.slice(verb.length + 1));
}

describe('if disruption budgets are enforced', () => {
  it('PE18 - a pod under a spent budget is no victim, and the verdict says so', async () => {
    const story = open({ a: 'web' });
    add(story, budget('web', 0, 'web'));
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.sent).toEqual([]);
    expect(story.verdictOn('high')).toContain('preemption: would need pods protected by a PodDisruptionBudget.');
  });

  it('PE19 - a whole group is no victim if the budget allows fewer evictions than it has members', async () => {
    const story = gangInTheWay(3);
    await story.run();
    expect(story.sent).toEqual([]);
    expect(story.verdictOn('high')).toContain('protected by a PodDisruptionBudget');
  });

  it('a whole group is evicted through the Eviction API if its budget allows it', async () => {
    const story = gangInTheWay(4);
    await story.run();
    expect([sent(story, 'evict').length, sent(story, 'delete')]).toEqual([4, []]);
    story.terminateAll();
    await story.run();
    expect(story.bound).toEqual({ high: 'a' });
  });

  it('a member that ends by itself after its refused eviction is no reason to evict the others, once the plan is given up', async () => {
    const story = gangInTheWay(4);
    story.protects = () => true;
    await story.run();
    story.change('low-0', { phase: 'Failed' });
    story.remove('high');
    await story.run();
    story.protects = () => false;
    await story.after(60);
    expect([sent(story, 'evict'), sent(story, 'unmark')]).toEqual([[], ['low-1', 'low-2', 'low-3']]);
  });

  it('members beyond the quorum go one by one, as many as the budget allows', async () => {
    const story = open();
    story.node('a', 4);
    story.group('low', 2);
    story.members('low', 4, { nodeName: 'a', labels: { app: 'web' } });
    add(story, budget('web', 1, 'web'));
    story.pod('one', { priority: 1000 });
    await story.run();
    expect(sent(story, 'evict')).toHaveLength(1);
  });

  it.each([
    [1, 0],
    [2, 2],
  ])('victims of one budget that allows %i are evicted for a gang of two: %i', async (allowed, count) => {
    const story = open({ a: 'web', b: 'web' });
    add(story, budget('web', allowed, 'web'));
    story.group('high', 2);
    story.members('high', 2, { priority: 1000 });
    await story.run();
    expect(sent(story, 'evict')).toHaveLength(count);
    if (count === 0) expect(story.verdictOn('high-0')).toContain('would need pods protected by a PodDisruptionBudget');
  });

  it('other victims are chosen, even of higher priority', async () => {
    const story = open({ a: 'web', b: 'other', c: 'web' });
    story.change('old-b', { priority: 500 });
    add(story, budget('web', 1, 'web'));
    story.group('high', 2);
    story.members('high', 2, { priority: 1000 });
    await story.run();
    expect(sent(story, 'evict')).toHaveLength(2);
    expect(sent(story, 'evict')).toContain('old-b');
  });

  it('members that keep apart find victims within the budget too', async () => {
    const story = open({ a: 'web', b: 'other', c: 'web' });
    add(story, budget('web', 1, 'web'));
    story.group('high', 2);
    const term = { labelSelector: { matchLabels: { app: 'high' } }, topologyKey: 'kubernetes.io/hostname' };
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    for (const name of ['a', 'b', 'c']) story.node(name, 1, { labels: { 'kubernetes.io/hostname': name } });
    story.members('high', 2, { priority: 1000, labels: { app: 'high' }, spec });
    await story.run();
    expect(sent(story, 'evict')).toHaveLength(2);
    expect(sent(story, 'evict')).toContain('old-b');
  });

  it('a pod that two budgets match is no victim, because the Eviction API rejects it', async () => {
    const story = open({ a: 'web' });
    add(story, budget('x', 5, 'web'), budget('y', 5, 'web'));
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.sent).toEqual([]);
  });

  it('only a budget that allows more wakes an entity, and only if it kept pods of lower priority', async () => {
    const story = open({ a: 'web', b: 'other' });
    const update = (next: ListedObject, before: ListedObject): void =>
      story.core.harness.core.handlers.listed.onUpdate(before, next);
    const [spent, other] = [budget('web', 0, 'web'), budget('other', 1, 'none')];
    add(story, spent, other);
    story.change('old-b', { priority: 1000 });
    story.pod('high', { priority: 1000 });
    story.pod('low', { priority: 0 });
    await story.after(30);
    update(budget('other', 2, 'none'), other);
    update(budget('web', 0, 'web'), spent);
    expect(await story.after(12)).toEqual([]);
    story.holds = () => true;
    update(budget('web', 1, 'web'), spent);
    expect(await story.after(12)).toEqual(['rejected']);
    await story.release();
    expect(sent(story, 'evict')).toEqual(['old-a']);
  });
});

describe('an eviction that the Eviction API refuses', () => {
  it('PE20 - is repeated until the budget allows it, and the group is not left in part', async () => {
    const story = gangInTheWay(4);
    story.protects = (name) => name === 'low-2';
    await story.run();
    await story.after(20);
    expect(sent(story, 'evict').toSorted()).toEqual(['low-0', 'low-1', 'low-3']);
    story.protects = () => false;
    await story.after(10);
    expect(sent(story, 'evict')).toContain('low-2');
    story.terminateAll();
    await story.run();
    expect(story.bound).toEqual({ high: 'a' });
  });

  it('PE20 - a group whose eviction has begun is evicted to its end even after the deadline', async () => {
    const story = gangInTheWay(4);
    story.protects = (name) => name === 'low-2';
    await story.run();
    await story.after(100);
    expect(story.verdictOn('high')).toContain('gave up after 90 s');
    expect(story.reserved).toEqual({});
    story.protects = () => false;
    await story.after(10);
    expect(sent(story, 'evict')).toContain('low-2');
    expect(sent(story, 'unmark')).toEqual([]);
  });

  it('leaves a group whole if none of it was evicted until the deadline, and may choose it again', async () => {
    const story = gangInTheWay(4);
    story.protects = () => true;
    await story.run();
    await story.after(100);
    expect(story.verdictOn('high')).toContain('could not be evicted on node a');
    expect(sent(story, 'unmark')).toHaveLength(4);
    story.protects = () => false;
    await story.after(70);
    expect(sent(story, 'evict')).toHaveLength(4);
  });

  it('keeps other groups waiting until the rest of a group that has begun is gone', async () => {
    const story = open();
    for (const name of ['a', 'b']) {
      story.node(name, 2);
      story.group(name, 2);
      story.members(name, 2, { nodeName: name, labels: { app: 'web' } });
    }
    add(story, budget('web', 4, 'web'));
    story.group('high', 2);
    story.members('high', 2, { priority: 1000, cpu: 2 });
    let left = 1;
    story.protects = () => left-- <= 0;
    await story.run();
    const [begun] = sent(story, 'evict').map((name) => name.slice(0, 1));
    left = 1;
    await story.after(15);
    expect(sent(story, 'evict').map((name) => name.slice(0, 1))).toEqual([begun, begun]);
    left = 2;
    await story.after(15);
    expect(sent(story, 'evict')).toHaveLength(4);
  });
});

it('a new leader evicts the rest of a group through the Eviction API', async () => {
  const story = gangInTheWay(4);
  story.protects = (name) => name === 'low-2';
  await story.run();
  story.protects = () => false;
  story.terminateAll();
  story.takeOver();
  await story.run();
  expect([sent(story, 'evict').length, sent(story, 'delete')]).toEqual([4, []]);
});
