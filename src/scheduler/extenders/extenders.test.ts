import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Extender } from '../../framework/extender.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { AskedExtenders } from '../testing/asked-extender.ts';
import type { ExtenderTraits } from '../testing/asked-extender.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

/** Creates a scheduler with these extenders, and nodes a to d with `cores` CPUs each. */
function coreWith(
  traits: readonly ExtenderTraits[],
  { cores = 4, nodes = 'abcd', extra = [] as readonly Plugin[] } = {},
): { readonly core: Scheduling; readonly outside: AskedExtenders } {
  const outside = new AskedExtenders(...traits);
  const core = new Scheduling({ plugins: defaultPlugins, extra, ports: { extenders: outside } });
  for (const name of nodes) core.node({ name, cpu: cores });
  return { core, outside };
}

function boundTo(core: Scheduling): Record<string, string> {
  return Object.fromEntries(core.binds.map(({ binding }) => [binding.name, binding.nodeName]));
}

describe('an extender that filters', () => {
  it('gets the nodes that the plugins leave, and its response decides the node', async () => {
    const { core, outside } = coreWith([{}]);
    core.node({ name: 'full', cpu: 1 });
    core.pod({ name: 'x', cpu: 2 });
    expect(await core.attempt()).toBe('asking');
    expect([outside.open, core.states()]).toEqual([['outside filter x: a,b,c,d'], { 'pod/x': 'setAside' }]);
    outside.next().leave(['c']);
    await core.settle();
    expect(await core.attempt()).toBe('planned');
    expect(boundTo(core)).toEqual({ x: 'c' });
  });

  it('triggers an attempt when it has responded', async () => {
    const { core, outside } = coreWith([{}]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    const before = core.harness.asked;
    outside.next().leave(['a']);
    await core.settle();
    expect(core.harness.asked).toBeGreaterThan(before);
  });

  it('counts as one attempt in the algorithm duration, which excludes the call', async () => {
    let clock: { advance: (ms: number) => void } | undefined;
    const slow = { name: 'Slow', filter: () => void clock?.advance(200) };
    const { core, outside } = coreWith([{}], { nodes: 'ab', extra: [slow] });
    clock = core.harness.clock;
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    clock.advance(4_000);
    clock = undefined;
    outside.next().leave(['a']);
    await core.settle();
    expect(await core.attempt()).toBe('planned');
    const text = await core.harness.registry.metrics();
    const valueOf = (end: string): number =>
      Number(new RegExp(`^scheduler_scheduling_algorithm_duration_seconds_${end} (.*)$`, 'm').exec(text)![1]);
    // The first part filtered both nodes twice.
    expect([valueOf('count'), valueOf('sum')]).toEqual([1, 0.8]);
  });

  it('gets no pods that the plugins reject', async () => {
    const { core, outside } = coreWith([{}]);
    core.pod({ name: 'x', cpu: 8 });
    expect(await core.attempt()).toBe('rejected');
    expect([outside.history, core.states()]).toEqual([[], { 'pod/x': 'unschedulable' }]);
  });

  it('appears in the verdict with each reason and its count', async () => {
    const { core, outside } = coreWith([{ name: 'http://gpu' }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave([], {
      failed: new Map([
        ['a', 'no GPU left'],
        ['b', 'no GPU left'],
      ]),
      unresolvable: new Map([['c', 'no GPU']]),
    });
    await core.settle();
    const result = core.harness.core.attempt();
    expect(result).toMatchObject({ kind: 'rejected', verdict: { waitsFor: 'unknown', reason: 'Unschedulable' } });
    await core.settle();
    expect(core.harness.verdicts).toEqual([
      'x 0/4 nodes are available: 1 extender http://gpu: gave no reason, 1 extender http://gpu: no GPU, ' +
        '2 extender http://gpu: no GPU left.',
    ]);
  });

  it('keeps the verdict short even with a different reason for each node', async () => {
    const { core, outside } = coreWith([{}], { nodes: 'abcdefghij' });
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave([], {
      failed: new Map([...'abcdefghij'].map((name) => [name, `${name.charCodeAt(0)} ${'is full\n'.repeat(200)}`])),
    });
    await core.settle();
    await core.attempt();
    expect(core.harness.verdicts[0]).toContain('5 extender outside: other reasons');
    expect(core.harness.verdicts[0]!.length).toBeLessThanOrEqual(1_024);
  });

  it('is called again after any event and a back-off, but not because of the verdict itself', async () => {
    const { core, outside } = coreWith([{}]);
    const pod = core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave([]);
    await core.settle();
    expect(await core.attempt()).toBe('rejected');
    core.show({ ...pod, resourceVersion: '99', podScheduled: { status: 'False', reason: 'r', message: 'm' } });
    expect(core.states()).toEqual({ 'pod/x': 'unschedulable' });
    core.node({ name: 'a', cpu: 4, labels: { changed: 'yes' } });
    expect(core.states()).toEqual({ 'pod/x': 'backoff' });
  });

  it('is called again when the pod gets new labels', async () => {
    const { core, outside } = coreWith([{}]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave([]);
    await core.settle();
    await core.attempt();
    core.change('x', { labels: { please: 'now' } });
    expect(core.states()).toEqual({ 'pod/x': 'backoff' });
  });

  it('fails the pod with its name if it fails, and the scheduler retries the pod without an event', async () => {
    const { core, outside } = coreWith([{ name: 'http://gpu' }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().fail('no answer within 5 s');
    await core.settle();
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.written[0]!.verdict).toEqual({
      reason: 'SchedulerError',
      message: 'extender http://gpu failed in filter: no answer within 5 s.',
      waitsFor: 'error',
    });
    core.harness.clock.advance(1000);
    expect(await core.attempt()).toBe('asking');
  });

  it('is skipped with a warning if it is ignorable and fails', async () => {
    const { core, outside } = coreWith([{ name: 'one', isIgnorable: true }, { name: 'two' }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().fail('broken');
    await core.settle();
    expect(outside.open).toEqual(['two filter x: a,b,c,d']);
    outside.next().leave(['b']);
    await core.settle();
    await core.attempt();
    expect([boundTo(core), core.harness.warnings]).toEqual([
      { x: 'b' },
      ['extender failed; scheduling the pod without it'],
    ]);
  });

  it('gets the nodes that the previous extender left, and is not called if there are none', async () => {
    const { core, outside } = coreWith([{ name: 'one' }, { name: 'two' }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave(['b', 'c']);
    await core.settle();
    expect(outside.open).toEqual(['two filter x: b,c']);
    outside.next().leave([]);
    await core.settle();
    await core.attempt();
    expect(core.harness.verdicts[0]).toMatch(/2 extender one: gave no reason, 2 extender two: gave no reason/);
    core.node({ name: 'e', cpu: 4 });
    core.harness.clock.advance(1000);
    await core.attempt();
    outside.next().leave([]);
    await core.settle();
    expect(outside.open).toEqual([]);
  });

  it('is not called for pods that request none of its resources', async () => {
    const { core, outside } = coreWith([{ managedResources: ['example.com/gpu'] }]);
    core.node({ name: 'gpu', cpu: 4, allocatable: { 'example.com/gpu': 4 } });
    core.pod({ name: 'plain', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    expect(outside.history).toEqual([]);
  });

  it('causes an error, even if it is ignorable, if the scheduler cannot read the pod', async () => {
    const { core, outside } = coreWith([{ isIgnorable: true }]);
    outside.unreadable = 'x';
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.verdicts[0]).toBe('x cannot read pod default/x for the extenders: not found.');
  });
});

describe('an extender that prioritizes', () => {
  it('decides between equal nodes, by its weight', async () => {
    const { core, outside } = coreWith([{ verbs: ['prioritize'], weight: 3 }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    expect(outside.open).toEqual(['outside prioritize x: a,b,c,d']);
    outside.next().score({ b: 2, d: 9, unknown: 10 });
    await core.settle();
    await core.attempt();
    expect(boundTo(core)).toEqual({ x: 'd' });
  });

  it('counts one of its points like ten points of a plugin', async () => {
    const preferA = {
      name: 'Likes',
      score: (_: unknown, __: unknown, { name }: { name: string }) => (name === 'a' ? 25 : 0),
    };
    for (const [score, node] of [
      [2, 'a'],
      [3, 'b'],
    ] as const) {
      const outside = new AskedExtenders({ verbs: ['prioritize'] });
      const plugins = defaultPlugins.filter(
        ({ name }) => !['NodeResourcesFit', 'TaintToleration', 'NodeAffinity'].includes(name),
      );
      const core = new Scheduling({ plugins, extra: [preferA], ports: { extenders: outside } });
      for (const name of 'ab') core.node({ name, cpu: 4 });
      core.pod({ name: 'x', cpu: 1 });
      await core.attempt();
      outside.next().score({ b: score });
      await core.settle();
      await core.attempt();
      expect(boundTo(core)).toEqual({ x: node });
    }
  });

  it('gets what the filters left, if there is more than one node', async () => {
    const { core, outside } = coreWith([{ name: 'one' }, { name: 'two', verbs: ['prioritize'] }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave(['a', 'b']);
    await core.settle();
    expect(outside.open).toEqual(['two prioritize x: a,b']);
    outside.next().fail('broken');
    await core.settle();
    expect(await core.attempt()).toBe('planned');
    expect(core.harness.warnings).toEqual(['extender failed; scheduling the pod without it']);
    core.pod({ name: 'y', cpu: 1 });
    await core.attempt();
    outside.next().leave(['c']);
    await core.settle();
    expect([await core.attempt(), outside.open]).toEqual(['planned', []]);
  });

  it('counts for every member of a gang', async () => {
    const { core, outside } = coreWith([{ verbs: ['prioritize'], weight: 100 }], { cores: 2 });
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 1 });
    await core.attempt();
    outside.next().score({ a: 1, b: 5, c: 9 });
    await core.settle();
    await core.attempt();
    expect(Object.values(boundTo(core)).sort()).toEqual(['b', 'c', 'c']);
  });
});

describe('a gang with extenders', () => {
  it('makes one call for identical members, and starts as a whole', async () => {
    const { core, outside } = coreWith([{}], { cores: 2 });
    core.group({ name: 'red', minMember: 4 });
    core.members(4, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('asking');
    expect([outside.open, outside.read]).toEqual([['outside filter red-0: a,b,c,d'], ['red-0']]);
    outside.next().leave(['a', 'b']);
    await core.settle();
    expect(await core.attempt()).toBe('planned');
    expect(Object.values(boundTo(core)).sort()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('does not start at all if an extender leaves too little capacity', async () => {
    const { core, outside } = coreWith([{}], { cores: 2 });
    core.group({ name: 'red', minMember: 4 });
    core.members(4, { group: 'red', cpu: 1 });
    await core.attempt();
    outside.next().leave(['a'], { failed: new Map([['b', 'too warm']]) });
    await core.settle();
    expect(await core.attempt()).toBe('rejected');
    expect([core.binds, core.harness.cluster.assumedCount]).toEqual([[], 0]);
    expect(core.harness.written).toHaveLength(4);
    expect(core.harness.verdicts[0]).toMatch(/PodGroup default\/red cannot start: 2 of 4 members would fit.*too warm/);
    expect(core.harness.written[0]!.verdict.waitsFor).toBe('unknown');
  });

  it('makes one call per pod class, and each member goes only where its class may', async () => {
    const { core, outside } = coreWith([{}]);
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'driver', group: 'red', cpu: 1, labels: { role: 'driver' } });
    core.pod({ name: 'worker', group: 'red', cpu: 1, labels: { role: 'worker' } });
    await core.attempt();
    expect([...outside.open].sort()).toEqual(['outside filter driver: a,b,c,d', 'outside filter worker: a,b,c,d']);
    outside.next('worker').leave(['c']);
    outside.next('driver').leave(['d']);
    await core.settle();
    await core.attempt();
    expect(boundTo(core)).toEqual({ driver: 'd', worker: 'c' });
  });

  it('fails as a whole if an extender fails for one pod class, and cancels the calls for the others', async () => {
    const { core, outside } = coreWith([{}]);
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'driver', group: 'red', cpu: 1, labels: { role: 'driver' } });
    core.pod({ name: 'worker', group: 'red', cpu: 1, labels: { role: 'worker' } });
    await core.attempt();
    outside.next('worker').fail('broken');
    await core.settle();
    expect([outside.open, await core.attempt(), core.harness.cluster.assumedCount]).toEqual([[], 'rejected', 0]);
  });

  it('places members that no extender manages as usual', async () => {
    const { core, outside } = coreWith([{ managedResources: ['example.com/gpu'] }], { nodes: 'a' });
    core.node({ name: 'g', cpu: 1, allocatable: { 'example.com/gpu': 4 } });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'cpu', group: 'red', cpu: 2 });
    core.pod({ name: 'gpu', group: 'red', cpu: 1, requests: { 'example.com/gpu': 1 } });
    await core.attempt();
    expect(outside.open).toEqual(['outside filter gpu: g']);
    outside.next().leave(['g']);
    await core.settle();
    expect(await core.attempt()).toBe('planned');
    expect(boundTo(core)).toEqual({ cpu: 'a', gpu: 'g' });
  });
});

describe('during an extender call', () => {
  it('other entities continue', async () => {
    const { core, outside } = coreWith([{ managedResources: ['example.com/gpu'] }]);
    core.node({ name: 'g', cpu: 1, allocatable: { 'example.com/gpu': 4 } });
    core.pod({ name: 'gpu', cpu: 1, requests: { 'example.com/gpu': 1 }, priority: 9 });
    core.pod({ name: 'plain', cpu: 2 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['asking', 'planned']);
    expect(Object.keys(boundTo(core))).toEqual(['plain']);
    outside.next().leave(['g']);
    await core.settle();
    expect([await core.attempt(), Object.keys(boundTo(core))]).toEqual(['planned', ['plain', 'gpu']]);
  });

  it('capacity may disappear, and the second half decides on the cluster state of that moment', async () => {
    const { core, outside } = coreWith([{}], { cores: 2 });
    core.pod({ name: 'x', cpu: 2 });
    await core.attempt();
    core.pod({ name: 'foreign', cpu: 2, nodeName: 'a', phase: 'Running' });
    outside.next().leave(['a']);
    await core.settle();
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.verdicts[0]).toContain('Insufficient cpu');
    expect(core.binds).toEqual([]);
  });

  it('a new node is not used, and its event counts later', async () => {
    const { core, outside } = coreWith([{}], { nodes: 'a' });
    core.pod({ name: 'x', cpu: 2 });
    await core.attempt();
    core.node({ name: 'new', cpu: 4 });
    outside.next().leave([]);
    await core.settle();
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.verdicts[0]).toContain('1 node(s) that the scheduler did not send to the extenders');
    // An event arrived in the meantime, so the pod backs off instead of waiting for one.
    expect(core.states()).toEqual({ 'pod/x': 'backoff' });
  });

  it('without any event, the pod waits for an event afterwards', async () => {
    const { core, outside } = coreWith([{}], { nodes: 'a' });
    core.pod({ name: 'x', cpu: 2 });
    await core.attempt();
    outside.next().leave([]);
    await core.settle();
    expect([await core.attempt(), core.states()]).toEqual(['rejected', { 'pod/x': 'unschedulable' }]);
  });

  it('deletion of the pod cancels the call, and a late response has no effect', async () => {
    const { core, outside } = coreWith([{}]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    const call = outside.asked[0]!;
    core.removePod('x');
    expect([call.signal.aborted, core.states()]).toEqual([true, {}]);
    call.leave(['a']);
    await core.settle();
    expect([await core.attempt(), core.binds]).toEqual([undefined, []]);
  });

  it('deletion of a pod between the response and the second half drops the pod', async () => {
    const { core, outside } = coreWith([{}]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().leave(['a']);
    await core.settle();
    core.removePod('x');
    core.pod({ name: 'y', cpu: 1 });
    expect([await core.attempt(), core.states(), outside.open]).toEqual([
      'asking',
      { 'pod/y': 'setAside' },
      ['outside filter y: a,b,c,d'],
    ]);
  });

  it('a pod that is deleted and recreated gets a new call', async () => {
    const { core, outside } = coreWith([{}]);
    const first = core.pod({ name: 'x', uid: 'one', cpu: 1 });
    await core.attempt();
    const stale = outside.asked[0]!;
    core.removePod(first.uid);
    core.pod({ name: 'x', uid: 'two', cpu: 1 });
    expect(await core.attempt()).toBe('asking');
    stale.leave(['a']);
    await core.settle();
    expect(await core.attempt()).toBeUndefined();
    outside.next().leave(['b']);
    await core.settle();
    expect([await core.attempt(), boundTo(core)]).toEqual(['planned', { x: 'b' }]);
  });

  it('a gang that loses a member it needs does not start', async () => {
    const { core, outside } = coreWith([{}]);
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.removePod('red-1');
    outside.next().leave(['a']);
    await core.settle();
    expect([await core.attempt(), core.binds, core.states()]).toEqual([
      'notReady',
      [],
      { 'gang/default/red': 'gated' },
    ]);
  });

  it('a gang whose members are all recreated gets a new call', async () => {
    const { core, outside } = coreWith([{}]);
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.removePod('red-0');
    core.removePod('red-1');
    expect(outside.open).toEqual([]);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    expect(outside.open).toEqual(['outside filter red-0: a,b,c,d']);
  });

  it('a new member that is identical to the others needs no further call', async () => {
    const { core, outside } = coreWith([{}]);
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.members(3, { group: 'red', cpu: 1 });
    outside.next().leave(['a', 'b']);
    await core.settle();
    expect([await core.attempt(), outside.history.length]).toEqual(['planned', 1]);
  });

  it('a different member gets a call only if it is needed, and only for a limited number of rounds', async () => {
    const { core, outside } = coreWith([{}], { cores: 1, nodes: 'ab' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    for (const round of [1, 2]) {
      core.change('red-1', { labels: { round: `${round}` } });
      while (outside.asked.length > 0) outside.next().leave(['a', 'b']);
      await core.settle();
      expect(await core.attempt()).toBe('asking');
    }
    core.change('red-1', { labels: { round: '3' } });
    while (outside.asked.length > 0) outside.next().leave(['a', 'b']);
    await core.settle();
    expect([await core.attempt(), core.harness.cluster.assumedCount]).toEqual(['rejected', 0]);
    expect(core.states()).toEqual({ 'gang/default/red': 'backoff' });
  });

  it('an entity of a higher priority decides first, whichever response comes first', async () => {
    const { core, outside } = coreWith([{}], { cores: 2, nodes: 'a' });
    core.pod({ name: 'high', cpu: 2, priority: 9 });
    core.pod({ name: 'low', cpu: 2 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['asking', 'asking']);
    outside.next('low').leave(['a']);
    await core.settle();
    expect(await core.attempt()).toBeUndefined();
    outside.next('high').leave(['a']);
    await core.settle();
    expect([await core.attempt(), await core.attempt()]).toEqual(['planned', 'rejected']);
    expect(boundTo(core)).toEqual({ high: 'a' });
  });

  it('an entity of the same priority, or whose attempt began after the response, delays none', async () => {
    const { core, outside } = coreWith([{}], { cores: 2, nodes: 'abc' });
    for (const [name, priority] of [
      ['high', 9],
      ['first', 0],
      ['second', 0],
    ] as const) {
      core.pod({ name, cpu: 2, priority });
      expect(await core.attempt()).toBe('asking');
    }
    outside.next('second').leave(['b']);
    await core.settle();
    core.harness.clock.advance(10);
    core.pod({ name: 'late', cpu: 2, priority: 5 });
    expect(await core.attempt()).toBe('asking');
    outside.next('high').leave(['a']);
    await core.settle();
    core.harness.clock.advance(10);
    expect([await core.attempt(), await core.attempt(), await core.attempt()]).toEqual([
      'planned',
      'planned',
      undefined,
    ]);
    expect(boundTo(core)).toEqual({ high: 'a', second: 'b' });
  });

  it.each([0, 16])(
    'an entity of a higher priority that is deleted delays none any more (behind %i others)',
    async (others) => {
      const { core, outside } = coreWith([{}], { cores: 100 });
      for (let i = 0; i < others; i++) core.pod({ name: `p${i}`, cpu: 1, priority: 1 });
      for (let i = 0; i < others; i++) await core.attempt();
      core.pod({ name: 'high', cpu: 1, priority: 9 });
      await core.attempt();
      if (others === 0) {
        core.pod({ name: 'p0', cpu: 1, priority: 1 });
        await core.attempt();
      }
      outside.next('p0').fail('broken');
      await core.settle();
      if (others === 0) expect(await core.attempt()).toBeUndefined();
      const before = core.harness.asked;
      core.removePod('high');
      await core.settle();
      expect(core.harness.asked).toBeGreaterThan(before);
      expect(await core.attempt()).toBe('rejected');
    },
  );

  it('a stop cancels the call and resolves when no call is running', async () => {
    const { core, outside } = coreWith([{}]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    const call = outside.asked[0]!;
    await core.harness.core.stop();
    expect([call.signal.aborted, await core.attempt(), core.harness.written]).toEqual([true, undefined, []]);
  });

  it('at most 16 entities have calls running, and the rest wait in queue order', async () => {
    const { core, outside } = coreWith([{}], { cores: 100 });
    for (let i = 0; i < 18; i++) core.pod({ name: `p${i}`, cpu: 1, priority: i < 17 ? 1 : 0 });
    core.pod({ name: 'urgent', cpu: 1, priority: 0 });
    for (let i = 0; i < 19; i++) expect(await core.attempt()).toBe('asking');
    expect([outside.open.length, await core.attempt()]).toEqual([16, undefined]);
    outside.next('p3').leave(['a']);
    await core.settle();
    expect([await core.attempt(), await core.attempt(), outside.open.at(-1)]).toEqual([
      'planned',
      'asking',
      'outside filter p16: a,b,c,d',
    ]);
    core.removePod('p17');
    while (outside.asked.length > 0) {
      outside.next().leave(['b']);
      await core.settle();
      while ((await core.attempt()) !== undefined);
    }
    expect(Object.keys(boundTo(core)).length).toBe(18);
    expect(Object.keys(boundTo(core))).not.toContain('p17');
  });
});

describe('an extender that binds', () => {
  it('replaces the Bind plugins for its pods', async () => {
    const { core, outside } = coreWith([{ verbs: ['bind'], managedResources: ['example.com/gpu'] }], { nodes: 'a' });
    core.node({ name: 'g', cpu: 1, allocatable: { 'example.com/gpu': 4 } });
    core.pod({ name: 'gpu', cpu: 1, requests: { 'example.com/gpu': 1 } });
    core.pod({ name: 'plain', cpu: 2 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['planned', 'planned']);
    expect([outside.open, boundTo(core)]).toEqual([['outside bind gpu: g'], { plain: 'a' }]);
    outside.next().accept();
    await core.settle();
    expect(core.harness.events).toEqual(['Scheduled gpu']);
  });

  it('fails the bind if it fails: the capacity is free again and the pod is requeued', async () => {
    const { core, outside } = coreWith([{ name: 'http://gpu', verbs: ['bind'] }]);
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().fail('no device');
    await core.settle();
    expect(core.harness.verdicts).toEqual(['x extender http://gpu failed in bind: no device.']);
    expect([core.harness.cluster.assumedCount, core.states()]).toEqual([0, { 'pod/x': 'backoff' }]);
  });

  it('leaves the pod to the plugins if it is ignorable and fails', async () => {
    const { core, outside } = coreWith([{ verbs: ['bind'], isIgnorable: true }], { nodes: 'a' });
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    outside.next().fail('dead');
    await core.settle();
    expect(boundTo(core)).toEqual({ x: 'a' });
  });

  it('leaves the gang to be completed if it binds only one of two members', async () => {
    const { core, outside } = coreWith([{ verbs: ['bind'] }]);
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    const [first, second] = [outside.next(), outside.next()];
    first.accept();
    second.fail('no device');
    await core.settle();
    core.change('red-0', { nodeName: first.nodes[0]!, phase: 'Running' });
    core.harness.clock.advance(1000);
    expect(await core.attempt()).toBe('planned');
    expect(outside.open).toEqual([expect.stringContaining('outside bind red-1') as string]);
  });

  it('checks whether it may still bind a member when its turn comes, and no member is bound alone', async () => {
    const turns: (() => void)[] = [];
    const sent: string[] = [];
    const bind: Extender['bind'] = async ({ name, mayBeSent }) => {
      await new Promise<void>((resolve) => turns.push(resolve));
      mayBeSent!();
      sent.push(name);
    };
    const extenders = [{ name: 'outside', isIgnorable: true, managedResources: [], weight: 1, bind }];
    const whole = ({ name }: Pod): Promise<{ readonly json: string }> => Promise.resolve({ json: name });
    const core = new Scheduling({ plugins: defaultPlugins, ports: { extenders: { extenders, whole } } });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.removePod('red-1');
    for (const turn of turns) turn();
    await core.settle();
    expect([turns.length, sent, core.binds, core.harness.cluster.assumedCount]).toEqual([2, [], [], 0]);
    expect(core.harness.verdicts[0]).toBe(
      'red-0 PodGroup default/red has only 1 of the 2 members it needs bound or planned.',
    );
  });
});

describe('preemption with extenders', () => {
  it('does not happen for a pod if an extender might reject the freed nodes', async () => {
    const postFilterCalls: string[] = [];
    const preempting: Plugin = {
      name: 'Preempting',
      postFilter: (schedulingEntity) => {
        postFilterCalls.push(schedulingEntity.kind);
        return undefined;
      },
    };
    for (const verbs of [['filter'], ['prioritize']] as const) {
      const { core } = coreWith([{ verbs }], { extra: [preempting] });
      core.pod({ name: 'x', cpu: 8 });
      expect(await core.attempt()).toBe('rejected');
    }
    expect(postFilterCalls).toEqual(['pod']);
  });

  it('makes it unknown what a gang waits for, because an extender might reject the freed nodes', async () => {
    const { core } = coreWith([{}], { nodes: 'a', cores: 2 });
    core.pod({ name: 'other', cpu: 2, nodeName: 'a', phase: 'Running' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.written[0]!.verdict.waitsFor).toBe('unknown');
  });
});

describe('nodes that keep rejecting', () => {
  /** Makes one attempt. The extender leaves all nodes and prefers one. */
  async function attempt(core: Scheduling, outside: AskedExtenders): Promise<string | undefined> {
    expect(await core.attempt()).toBe('asking');
    while (outside.asked.length > 0) {
      const call = outside.next();
      if (call.verb === 'prioritize') call.score({ a: 10, b: 1 });
      else call.leave(call.nodes);
      await core.settle();
    }
    return core.attempt();
  }

  const preferring: ExtenderTraits = { verbs: ['filter', 'prioritize'], weight: 100 };

  it('are avoided while the extender leaves another node, whichever it prefers', async () => {
    const { core, outside } = coreWith([preferring], { nodes: 'ab' });
    core.pod({ name: 'x', cpu: 1 });
    for (const node of ['a', 'a', 'b']) {
      expect(await attempt(core, outside)).toBe('planned');
      expect(boundTo(core)).toEqual({ x: node });
      await core.reject('x', 'the node says no');
      core.harness.clock.advance(60_000);
    }
  });

  it('get no pod like one that they did not admit, whatever the extender prefers', async () => {
    const { core, outside } = coreWith([preferring], { nodes: 'ab' });
    core.pod({ name: 'x', cpu: 1, nodeName: 'a' });
    core.change('x', { phase: 'Failed', failedBecause: 'OutOfcpu' });
    core.pod({ name: 'y', cpu: 1 });
    expect(await attempt(core, outside)).toBe('planned');
    expect(boundTo(core)).toEqual({ y: 'b' });
  });

  it('are no alternative if the extender leaves only nodes that do not admit such pods', async () => {
    const { core, outside } = coreWith([{}], { nodes: 'ab' });
    core.pod({ name: 'x', cpu: 1, nodeName: 'a' });
    core.change('x', { phase: 'Failed', failedBecause: 'OutOfcpu' });
    core.pod({ name: 'y', cpu: 1 });
    await core.attempt();
    outside.next().leave(['a'], { failed: new Map([['b', 'no device']]) });
    await core.settle();
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.verdicts.at(-1)).toBe(
      'y 0/2 nodes are available: 1 extender outside: no device, 1 node(s) did not admit a pod like this one.',
    );
    // The time after which the scheduler may use the node again.
    core.harness.clock.advance(60_000);
    expect(core.states()['pod/y']).not.toBe('unschedulable');
  });
});
