import { describe, expect, it } from 'vitest';
import { oneGang, PreemptionStory } from '../testing/preemption-story.ts';

/** Gang `high` of two needs nodes a and b, where a low pod runs on each. */
async function twoNodes(): Promise<PreemptionStory> {
  const story = new PreemptionStory();
  for (const name of ['a', 'b']) {
    story.node(name, 1);
    story.pod(`old-${name}`, { nodeName: name });
  }
  story.group('high', 2);
  story.members('high', 2, { priority: 1000 });
  return story;
}

describe('victims', () => {
  it('are all marked before the first one is deleted, and the nomination comes with the verdict', async () => {
    const story = await twoNodes();
    const seen: string[] = [];
    story.lives = (verb, name) => {
      const nominated = ['high-0', 'high-1'].map((member) => story.stored(member)?.nominatedNodeName);
      seen.push(`${verb} ${name}${verb === 'verdict' ? ` ${JSON.stringify(nominated)}` : ''}`);
      return true;
    };
    await story.run();
    expect(story.sent).toEqual(['mark old-a', 'mark old-b', 'delete old-a', 'delete old-b']);
    expect(story.reserved).toEqual({ 'high-0': 'a', 'high-1': 'b' });
    for (const [name, node] of Object.entries(story.reserved)) {
      expect(story.stored(name)).toMatchObject({ nominatedNodeName: node, podScheduled: { reason: 'Unschedulable' } });
    }
  });

  it('a nomination is no event: neither writing nor clearing it wakes a pod, and it reserves nothing by itself', async () => {
    const story = await twoNodes();
    await story.run();
    const attempts = story.asked;
    expect(story.core.states()).toEqual({ 'gang/default/high': 'unschedulable' });
    await story.after(90);
    // The reservation has ended, and the pods have lost their nominations a second later.
    await story.after(1);
    expect(story.reserved).toEqual({});
    expect(story.stored('high-0')!.nominatedNodeName).toBe('');
    expect(story.asked).toBe(attempts);
  });

  it('a nomination by another component is neither cleared nor forgotten', async () => {
    const story = await twoNodes();
    await story.run();
    story.change('high-0', { nominatedNodeName: 'b' });
    await story.after(92);
    expect(story.stored('high-0')!.nominatedNodeName).toBe('b');
    expect(story.reserved).toEqual({ 'high-0': 'b' });
  });

  it('PE13 - the capacity of a victim that is gone is not lost to its replacement, which wakes no entity', async () => {
    const story = await twoNodes();
    await story.run();
    story.remove('old-a');
    for (let i = 0; i < 60; i++) {
      story.pod('again', { createdAt: i });
      const results = await story.after(0.5);
      expect(results.every((result) => result !== 'planned')).toBe(true);
      story.remove('again');
    }
    story.pod('again');
    expect(story.asked).toBeLessThan(70);
    expect(story.core.states()['gang/default/high']).toBe('unschedulable');
    await story.run();
    story.remove('old-b');
    await story.run();
    expect(story.bound).toEqual({ 'high-0': 'a', 'high-1': 'b' });
    expect(await story.metric('tutti_preemption_outcomes_total')).toContainEqual({
      labels: { outcome: 'bound' },
      value: 1,
    });
  });

  it('PE23 - a pod that has taken the name of a victim is left alone', async () => {
    const story = await twoNodes();
    story.holds = (verb) => verb === 'delete';
    await story.run();
    story.remove('old-a');
    const again = story.pod('old-a', { nodeName: 'gone' });
    await story.release();
    expect(story.sent).toEqual(['mark old-a', 'mark old-b', 'delete old-b']);
    expect(story.stored('old-a')).toMatchObject({ uid: again.uid, deleting: false });
  });

  it('PE22 - a victim that succeeds during its grace period does not count towards the quorum of its group', async () => {
    const story = oneGang(3);
    story.pod('high', { cpu: 4, priority: 1000 });
    await story.run();
    expect(story.sent.filter((sent) => sent.startsWith('delete'))).toHaveLength(4);
    for (let i = 0; i < 4; i++) story.change(`low-${i}`, { phase: 'Succeeded' });
    const gang = story.core.harness.cluster.gang('default/low')!;
    expect([gang.counted, gang.missing]).toEqual([0, 3]);
  });
});

describe('a preemption that ends early', () => {
  it('PE14 - is displaced whole by a higher priority, in the step in which that takes one of its nodes', async () => {
    const story = new PreemptionStory((schedulingEntity, bound) =>
      schedulingEntity.kind === 'gang' ? bound.filter(({ priority }) => priority === 0) : undefined,
    );
    story.node('a', 1);
    story.pod('old', { nodeName: 'a' });
    story.node('free', 1);
    story.group('high', 2);
    story.members('high', 2, { priority: 1000 });
    story.holds = (verb) => verb === 'delete';
    await story.run();
    expect(Object.values(story.reserved).sort()).toEqual(['a', 'free']);
    story.pod('higher', { priority: 2000 });
    expect(await story.core.attempt()).toBe('planned');
    expect(story.reserved).toEqual({});
    await story.release();
    await story.run();
    await story.after(2);
    expect(story.sent).toEqual(['mark old', 'unmark old']);
    expect(story.bound).toEqual({ old: 'a', higher: 'free' });
    expect(story.core.harness.events).toContain('PreemptionDisplaced high');
    expect(['high-0', 'high-1'].map((name) => story.stored(name)!.nominatedNodeName)).toEqual(['', '']);
  });

  it('stays if it still fits beside the higher priority', async () => {
    const story = new PreemptionStory((schedulingEntity, bound) =>
      schedulingEntity.kind === 'gang' ? bound.filter(({ priority }) => priority === 0) : undefined,
    );
    story.node('a', 3);
    for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'a' });
    story.group('high', 2);
    story.members('high', 2, { priority: 1000 });
    await story.run();
    story.pod('higher', { priority: 2000 });
    await story.run();
    expect(story.bound).toEqual({ higher: 'a' });
    expect(story.reserved).toEqual({ 'high-0': 'a', 'high-1': 'a' });
  });

  it('PE15 - a victim that does not terminate is named, avoided, and the pauses before the next preemption grow', async () => {
    const excluded: number[] = [];
    const story: PreemptionStory = new PreemptionStory((schedulingEntity, bound) => {
      if (schedulingEntity.kind !== 'pod' || schedulingEntity.pod.name !== 'high') return undefined;
      const { preemptions } = story.core.harness.core;
      excluded.push(bound.filter((pod) => preemptions.isStuck(pod)).length);
      const victims = bound.filter((pod) => pod.priority === 0 && !preemptions.isStuck(pod));
      return victims.slice(0, 1);
    });
    for (const name of ['a', 'b', 'c']) {
      story.node(name, 1);
      story.pod(`old-${name}`, { nodeName: name });
    }
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.sent).toEqual(['mark old-a', 'delete old-a']);
    await story.after(90);
    await story.after(1);
    expect([story.reserved, story.stored('high')!.nominatedNodeName]).toEqual([{}, '']);
    expect(story.verdictOn('high')).toMatch(
      /preemption: gave up after 90 s: pod default\/old-a is still terminating on node a; next try not before 00:02:30Z\./,
    );
    expect(story.core.harness.events).toContain('PreemptionExpired high');
    await story.after(58);
    expect(story.sent).toHaveLength(2);
    await story.after(1);
    expect(story.sent.slice(2)).toEqual(['mark old-b', 'delete old-b']);
    expect(story.verdictOn('high')).toContain('Waiting for 1 of 1 victim to terminate, until 00:04:00Z');
    await story.after(90);
    await story.after(1);
    expect(story.verdictOn('high')).toContain('next try not before 00:06:00Z');
    await story.after(119);
    expect(story.sent.slice(4)).toEqual(['mark old-c', 'delete old-c']);
    expect(excluded).toEqual([0, 1, 2]);
    story.remove('old-c');
    await story.run();
    expect(story.bound).toEqual({ high: 'c' });
  });

  it('waits for the whole grace period of a pod whose delete is sent late', async () => {
    const story = await twoNodes();
    story.holds = (verb) => verb === 'delete';
    await story.run();
    await story.after(80);
    await story.release();
    await story.after(80);
    expect(story.reserved).toEqual({ 'high-0': 'a', 'high-1': 'b' });
    await story.after(10);
    expect(story.reserved).toEqual({});
  });

  it('PE15 - pods of lower priority may use the capacity after the deadline', async () => {
    const story = await twoNodes();
    await story.run();
    story.remove('old-a');
    story.pod('lower');
    await story.run();
    expect(story.bound).toEqual({});
    await story.after(90);
    expect(story.bound).toEqual({ lower: 'a' });
  });

  it.each([
    ['cordoned', (story: PreemptionStory) => story.node('a', 1, { unschedulable: true })],
    ['deleted', (story: PreemptionStory) => story.removeNode('a')],
  ])('PE16 - a node that is %s ends the plan, and another begins at once', async (_change, apply) => {
    const story = new PreemptionStory((schedulingEntity, bound, { cluster }) =>
      schedulingEntity.kind === 'pod'
        ? bound
            .filter(({ nodeName, priority }) => {
              const node = cluster.node(nodeName)?.node;
              return priority === 0 && node !== undefined && !node.unschedulable;
            })
            .slice(0, 1)
        : undefined,
    );
    for (const name of ['a', 'b']) {
      story.node(name, 1);
      story.pod(`old-${name}`, { nodeName: name });
    }
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.reserved).toEqual({ high: 'a' });
    apply(story);
    expect(story.reserved).toEqual({});
    await story.run();
    expect([story.reserved, story.stored('high')!.nominatedNodeName]).toEqual([{ high: 'b' }, 'b']);
    expect(story.core.harness.core.preemptions.inFlight).toBe(1);
    expect(story.sent).toEqual(['mark old-a', 'delete old-a', 'mark old-b', 'delete old-b']);
  });

  it('PE21 - two entities of equal priority never wait for the same victim', async () => {
    const story = new PreemptionStory();
    story.node('a', 2);
    story.pod('old', { cpu: 2, nodeName: 'a' });
    for (const name of ['first', 'second']) {
      story.group(name, 1);
      story.members(name, 1, { priority: 1000 });
    }
    story.holds = (verb) => verb === 'delete';
    await story.run();
    expect(story.reserved).toEqual({ 'first-0': 'a' });
    expect(story.verdictOn('second-0')).toContain('victim default/old already makes way for another entity');
    await story.release();
    expect(story.sent).toEqual(['mark old', 'delete old']);
    story.remove('old');
    await story.after(10);
    expect(story.bound).toEqual({ 'first-0': 'a', 'second-0': 'a' });
  });

  it('a higher priority takes over the victims of the plan that it displaces, and none loses its mark', async () => {
    const story = new PreemptionStory();
    story.node('a', 1);
    story.pod('old', { nodeName: 'a' });
    story.pod('high', { priority: 1000 });
    story.holds = (verb) => verb === 'delete';
    await story.run();
    story.pod('higher', { priority: 2000 });
    await story.run();
    await story.release();
    expect(story.reserved).toEqual({ higher: 'a' });
    expect(story.sent.filter((sent) => sent !== 'mark old')).toEqual(['delete old']);
    expect(story.stored('old')!.preemptionMark).toBeDefined();
  });

  it('PE26 - of two groups, the one whose eviction has begun is evicted to its end when the entity is deleted', async () => {
    const story = new PreemptionStory();
    story.node('a', 4);
    for (const name of ['first', 'second']) {
      story.group(name, 2);
      story.members(name, 2, { nodeName: 'a' });
    }
    story.group('high', 4);
    story.members('high', 4, { priority: 1000 });
    story.holds = (verb, name) => verb === 'delete' && name !== 'first-0';
    await story.run();
    expect(story.sent.slice(4)).toEqual(['delete first-0']);
    for (let i = 0; i < 4; i++) story.remove(`high-${i}`);
    await story.core.settle();
    await story.release();
    expect(story.sent.slice(5).sort()).toEqual(['delete first-1', 'unmark second-0', 'unmark second-1']);
    expect(Object.keys(story.bound)).toEqual(['second-0', 'second-1']);
    expect(await story.metric('tutti_preemption_outcomes_total')).toContainEqual({
      labels: { outcome: 'abandoned' },
      value: 1,
    });
    expect((await story.metric('tutti_preemption_wasted_victims_total'))[0]!.value).toBe(1);
  });

  it.each([
    ['minMember changes', (story: PreemptionStory) => story.group('high', 1)],
    ['a nominated member is deleted', (story: PreemptionStory) => story.remove('high-0')],
    [
      'a nominated member gets a gate',
      (story: PreemptionStory) => story.change('high-0', { schedulingGates: ['shut'] }),
    ],
  ])('ends if %s', async (_change, apply) => {
    const story = await twoNodes();
    story.holds = (verb) => verb === 'delete';
    await story.run();
    apply(story);
    expect(story.reserved).toEqual({});
    await story.release();
    expect(story.sent.filter((sent) => sent.startsWith('delete'))).toEqual([]);
  });

  it('ends if the entity is bound elsewhere, and no further request is sent', async () => {
    const story = await twoNodes();
    story.holds = (verb) => verb === 'delete';
    await story.run();
    story.node('c', 2);
    await story.after(1);
    expect(story.bound).toMatchObject({ 'high-0': 'c', 'high-1': 'c' });
    await story.release();
    expect(story.sent.slice(2).sort()).toEqual(['unmark old-a', 'unmark old-b']);
    expect(await story.metric('tutti_preemption_outcomes_total')).toContainEqual({
      labels: { outcome: 'elsewhere' },
      value: 1,
    });
  });
});
