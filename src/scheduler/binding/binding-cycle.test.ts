import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import { deferred } from '../../base/deferred.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { BindingCycle } from './binding-cycle.ts';
import type { BindingPlan, BindingResult } from './binding-plan.ts';
import { entityInFlight } from '../testing/entity.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

interface Fixture {
  readonly harness: CoreHarness;
  readonly binding: BindingCycle;
  readonly bound: PodBinding[];
  readonly results: BindingResult[];
  readonly stop: AbortController;
  /** Plans and assumes a group of three. */
  readonly plan: () => BindingPlan;
}

interface FixtureOptions {
  readonly plugins?: readonly Plugin[];
  readonly bind?: (binding: PodBinding) => Promise<void>;
  readonly revision?: () => number;
  readonly misfit?: (plan: BindingPlan, podName: string) => Status | undefined;
  /** How many of the three members make the quorum. Default: all. A lower number means that other members are planned elsewhere. */
  readonly enough?: number;
  /** Default: more than the plan has. */
  readonly startsPerTurn?: number;
}

function fixture(options: FixtureOptions = {}): Fixture {
  const bound: PodBinding[] = [];
  const results: BindingResult[] = [];
  const stop = new AbortController();
  const harness = new CoreHarness({
    plugins: defaultPlugins,
    extra: options.plugins ?? [],
    binder: {
      bind: async (podBinding) => {
        await options.bind?.(podBinding);
        bound.push(podBinding);
      },
    },
  });
  harness.node({ name: 'a', cpu: 4 });
  const gang: Gang = harness.group({ name: 'red', uid: 'red-uid', minMember: 3 });
  harness.pods(3, { group: 'red', cpu: 1 });
  let plans = 0;
  const binding = new BindingCycle({
    report: (result) => results.push(result),
    betweenAttempts: (look) => Promise.resolve(look()),
    stillHolds: ({ assignments, startsGang }) => {
      const failed = results.flatMap((result) => (result.kind === 'failed' ? result.failures : []));
      const isEnough = assignments.length - failed.length >= (options.enough ?? 3);
      return isEnough || !startsGang ? undefined : new Status('Unschedulable', 'too few members are left');
    },
    revision: options.revision ?? (() => 0),
    misfits: (plan, assignments) =>
      new Map(
        assignments.flatMap((assignment) => {
          const status = options.misfit?.(plan, assignment.pod.name);
          return status === undefined ? [] : [[assignment, status]];
        }),
      ),
    permitWaited: () => undefined,
    clock: harness.clock,
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    startsPerTurn: options.startsPerTurn ?? 100,
    planId: () => `plan-${++plans}`,
    signal: stop.signal,
    bindSignal: new AbortController().signal,
  });
  const plan = (): BindingPlan => {
    const result = harness.core.cycle.run(entityInFlight({ gang }), harness.profile);
    if (result.kind !== 'planned') throw new Error(`the attempt ended ${result.kind}`);
    return result.plan;
  };
  return { harness, binding, bound, results, stop, plan };
}

/** Queues bindings. Each calls `mayBeSent` when the test gives it its turn. */
function queuedBindings(
  options: FixtureOptions = {},
): Fixture & { readonly turns: (() => void)[]; readonly sent: string[] } {
  const turns: (() => void)[] = [];
  const sent: string[] = [];
  const made = fixture({
    ...options,
    bind: async ({ name, mayBeSent }) => {
      await new Promise<void>((resolve) => turns.push(resolve));
      mayBeSent!();
      sent.push(name);
    },
  });
  return { ...made, turns, sent };
}

/** Runs everything that does not wait for a timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

function finished(results: readonly BindingResult[]): { pod: string; reason: string }[] {
  const last = results.at(-1);
  if (last?.kind !== 'finished') throw new Error('the plan is not finished');
  return last.failures.map(({ assignment, status }) => ({ pod: assignment.pod.name, reason: status.message }));
}

describe('BindingCycle', () => {
  it('binds every member, with annotations that identify the plan', async () => {
    const { binding, bound, results, plan } = fixture();
    binding.start(plan());
    expect(binding.running).toBe(1);
    await binding.idle();
    expect(binding.running).toBe(0);
    expect(bound.map(({ name, nodeName }) => [name, nodeName])).toEqual([
      ['red-0', 'a'],
      ['red-1', 'a'],
      ['red-2', 'a'],
    ]);
    for (const { annotations } of bound) {
      expect(annotations).toEqual({
        [planAnnotations.groupUid]: 'red-uid',
        [planAnnotations.plan]: 'plan-1',
        [planAnnotations.quorum]: '3',
      });
    }
    expect(results.map(({ kind }) => kind)).toEqual(['begun', 'bound', 'bound', 'bound', 'finished']);
    expect(finished(results)).toEqual([]);
  });

  it('binds no member before the last PreBind has ended', async () => {
    const steps: string[] = [];
    const waits = new Map<string, () => void>();
    const { binding, plan } = fixture({
      plugins: [
        {
          name: 'Volumes',
          preBind: async (_state, pod) => {
            await new Promise<void>((resolve) => waits.set(pod.name, resolve));
            steps.push(`ready ${pod.name}`);
            return undefined;
          },
        },
      ],
      bind: ({ name }) => Promise.resolve(void steps.push(`bind ${name}`)),
    });
    binding.start(plan());
    await settle();
    expect([...waits.keys()]).toEqual(['red-0', 'red-1', 'red-2']);
    waits.get('red-2')!();
    waits.get('red-0')!();
    await settle();
    expect(steps).toEqual(['ready red-2', 'ready red-0']);
    waits.get('red-1')!();
    await binding.idle();
    expect(steps.slice(0, 3)).toEqual(['ready red-2', 'ready red-0', 'ready red-1']);
    expect(steps).toHaveLength(6);
  });

  it('records the quorum at the time of binding if it changes while a PreBind runs', async () => {
    const volumes = deferred<undefined>();
    const { harness, binding, bound, plan } = fixture({
      plugins: [{ name: 'Volumes', preBind: () => volumes.promise }],
    });
    binding.start(plan());
    await settle();
    harness.group({ name: 'red', uid: 'red-uid', minMember: 2 });
    volumes.resolve(undefined);
    await binding.idle();
    expect(bound.map(({ annotations }) => annotations?.[planAnnotations.quorum])).toEqual(['2', '2', '2']);
  });

  it('binds no member if one PreBind fails', async () => {
    const { binding, bound, results, plan } = fixture({
      plugins: [
        {
          name: 'Volumes',
          preBind: (_state, pod) =>
            pod.name === 'red-1' ? Promise.reject(new Error('no volume')) : Promise.resolve(undefined),
        },
      ],
    });
    binding.start(plan());
    await binding.idle();
    expect(bound).toEqual([]);
    const reason = 'Volumes failed in PreBind: no volume';
    expect(finished(results)).toEqual(['red-0', 'red-1', 'red-2'].map((pod) => ({ pod, reason })));
    const ownFailures = results.flatMap((result) => (result.kind === 'finished' ? result.failures : []));
    expect(ownFailures.map(({ isBySibling = false }) => isBySibling)).toEqual([true, false, true]);
  });

  it('binds no member if one no longer fits after the wait for plugins', async () => {
    const { binding, bound, results, plan } = fixture({
      plugins: [{ name: 'Volumes', preBind: () => Promise.resolve(undefined) }],
      misfit: (_plan, pod) => (pod === 'red-2' ? new Status('Unschedulable', 'node a is gone') : undefined),
    });
    binding.start(plan());
    await binding.idle();
    expect(bound).toEqual([]);
    expect(finished(results).map(({ reason }) => reason)).toEqual(Array(3).fill('node a is gone'));
  });

  it('binds the other members if they are enough without the one that no longer fits', async () => {
    const { binding, bound, results, plan } = fixture({
      plugins: [{ name: 'Volumes', preBind: () => Promise.resolve(undefined) }],
      misfit: (_plan, pod) => (pod === 'red-1' ? new Status('Unschedulable', 'node a is gone') : undefined),
      enough: 2,
    });
    binding.start(plan());
    await binding.idle();
    expect(bound.map(({ name }) => name)).toEqual(['red-0', 'red-2']);
    expect(finished(results)).toEqual([{ pod: 'red-1', reason: 'node a is gone' }]);
  });

  it('reports a member that cannot be bound and keeps the others bound', async () => {
    const { binding, bound, results, plan } = fixture({
      bind: ({ name }) => (name === 'red-1' ? Promise.reject(new Error('node a rejected')) : Promise.resolve()),
    });
    binding.start(plan());
    await binding.idle();
    expect(bound.map(({ name }) => name)).toEqual(['red-0', 'red-2']);
    expect(finished(results)).toEqual([{ pod: 'red-1', reason: 'binding rejected: a node rejected' }]);
  });
});

describe('a Permit plugin that waits', () => {
  const gate: Plugin = { name: 'Gate', permit: () => ({ waitMs: 5000 }) };

  it('delays the whole plan until it has allowed every member', async () => {
    const { binding, bound, harness, plan } = fixture({ plugins: [gate] });
    binding.start(plan());
    const [first, ...others] = harness.waitingPods.all();
    for (const other of others) other.allow('Gate');
    await settle();
    expect(bound).toEqual([]);
    first!.allow('Gate');
    await binding.idle();
    expect(bound).toHaveLength(3);
  });

  it('ends the plan for all members at once if it rejects one', async () => {
    const { binding, bound, results, harness, plan } = fixture({ plugins: [gate] });
    binding.start(plan());
    harness.waitingPods.all()[1]!.reject('Gate', 'not today');
    await settle();
    expect(bound).toEqual([]);
    expect(finished(results)).toEqual(['red-0', 'red-1', 'red-2'].map((pod) => ({ pod, reason: 'not today' })));
    expect(harness.waitingPods.size).toBe(0);
    expect(harness.clock.untilNextTimer()).toBeUndefined();
  });

  it('ends the plan when the first member times out', async () => {
    const uneven: Plugin = {
      name: 'Gate',
      permit: (_state, pod) => ({ waitMs: pod.name === 'red-1' ? 1000 : 600_000 }),
    };
    const { binding, bound, results, harness, plan } = fixture({ plugins: [uneven] });
    binding.start(plan());
    harness.clock.advance(999);
    await settle();
    expect(results).toEqual([]);
    harness.clock.advance(1);
    await settle();
    expect(bound).toEqual([]);
    expect(finished(results)[0]).toEqual({ pod: 'red-0', reason: 'timed out after 1 s of waiting on Permit' });
    expect(harness.waitingPods.size).toBe(0);
  });

  it('does not delay the stop of the scheduler', async () => {
    const { binding, bound, results, stop, plan } = fixture({ plugins: [gate] });
    binding.start(plan());
    stop.abort(new Error('stopping'));
    await binding.idle();
    expect(bound).toEqual([]);
    expect(finished(results)).toHaveLength(3);
  });

  it('drained() waits for a plan whose bindings were sent before the stop', async () => {
    const response = deferred();
    const { binding, bound, results, stop, plan } = fixture({ bind: () => response.promise });
    binding.start(plan());
    await settle();
    stop.abort(new Error('stopping'));
    const drained = binding.drained();
    response.resolve();
    await drained;
    expect(bound).toHaveLength(3);
    expect(finished(results)).toEqual([]);
  });

  it('starts no binding once the scheduler stops', async () => {
    const { binding, bound, results, stop, plan } = fixture();
    binding.start(plan());
    stop.abort(new Error('stopping'));
    await binding.idle();
    expect(bound).toEqual([]);
    expect(finished(results)[0]).toEqual({ pod: 'red-0', reason: 'the scheduler is stopping' });
    await binding.drained();
  });

  describe('with queued bindings', () => {
    /** After `crowd(name)`, that member no longer fits. */
    function crowded(enough = 3): ReturnType<typeof queuedBindings> & { readonly crowd: (podName: string) => void } {
      let noCapacityFor: string | undefined;
      const made = queuedBindings({
        enough,
        revision: () => (noCapacityFor === undefined ? 0 : 1),
        misfit: (_plan, pod) => (pod === noCapacityFor ? new Status('Unschedulable', 'Insufficient cpu') : undefined),
      });
      return { ...made, crowd: (podName) => (noCapacityFor = podName) };
    }

    it('sends none if one member no longer fits before the first is sent, and reports the reason at once', async () => {
      const { binding, plan, turns, sent, results, crowd } = crowded();
      binding.start(plan());
      await settle();
      crowd('red-2');
      turns[0]!();
      await settle();
      const failures = results.flatMap((result) => (result.kind === 'failed' ? result.failures : []));
      expect(failures.map(({ assignment, status, ...rest }) => [assignment.pod.name, status.message, rest])).toEqual([
        ['red-2', 'Insufficient cpu', {}],
        ['red-0', 'Insufficient cpu', { isBySibling: true }],
        ['red-1', 'Insufficient cpu', { isBySibling: true }],
      ]);
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual([]);
      expect(results.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'finished']);
      expect(finished(results)).toHaveLength(3);
    });

    it('sends the other bindings if they are enough without the member that no longer fits', async () => {
      const { binding, plan, turns, sent, results, crowd } = crowded(2);
      binding.start(plan());
      await settle();
      crowd('red-1');
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual(['red-0', 'red-2']);
      expect(results.map(({ kind }) => kind)).toEqual(['failed', 'begun', 'bound', 'bound', 'finished']);
      expect(finished(results)).toEqual([{ pod: 'red-1', reason: 'Insufficient cpu' }]);
    });

    it('sends none if the quorum changes before the first is sent', async () => {
      const { harness, binding, plan, turns, sent, results } = crowded(2);
      binding.start(plan());
      await settle();
      harness.group({ name: 'red', uid: 'red-uid', minMember: 2 });
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual([]);
      expect(finished(results)[0]).toEqual({
        pod: 'red-0',
        reason: 'PodGroup default/red now needs 2 members instead of 3',
      });
    });

    it('sends the other bindings if the quorum changes after the first is sent', async () => {
      const { harness, binding, plan, turns, sent } = crowded(2);
      binding.start(plan());
      await settle();
      turns[0]!();
      await settle();
      harness.group({ name: 'red', uid: 'red-uid', minMember: 2 });
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual(['red-0', 'red-1', 'red-2']);
    });

    it('sends the other bindings if a member no longer fits after the first is sent', async () => {
      const { binding, plan, turns, sent, results, crowd } = crowded();
      binding.start(plan());
      await settle();
      turns[0]!();
      await settle();
      crowd('red-1');
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual(['red-0', 'red-2']);
      expect(finished(results)).toEqual([{ pod: 'red-1', reason: 'Insufficient cpu' }]);
    });

    it('sends the bindings that still fit if the group has already started', async () => {
      const { binding, plan, turns, sent, results, crowd } = crowded();
      binding.start({ ...plan(), startsGang: false });
      await settle();
      crowd('red-2');
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual(['red-0', 'red-1']);
      expect(finished(results)).toEqual([{ pod: 'red-2', reason: 'Insufficient cpu' }]);
    });
  });

  describe('with more members than may start in one turn', () => {
    const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

    it('starts some in each turn, and none before it has checked all of them', async () => {
      const { binding, plan, results, turns, sent } = queuedBindings({ startsPerTurn: 2 });
      binding.start(plan());
      await settle();
      expect(turns).toHaveLength(0);
      const started: number[] = [];
      for (let turn = 0; turn < 4; turn++) {
        await nextTurn();
        await settle();
        started.push(turns.length);
      }
      expect(started).toEqual([0, 2, 3, 3]);
      for (const turn of turns) turn();
      await binding.idle();
      expect(sent).toEqual(['red-0', 'red-1', 'red-2']);
      expect(results.map(({ kind }) => kind)).toEqual(['begun', 'bound', 'bound', 'bound', 'finished']);
    });

    it('starts no member that has failed with its siblings', async () => {
      let revision = 0;
      const { binding, plan, results, turns, sent } = queuedBindings({
        startsPerTurn: 1,
        revision: () => revision,
        misfit: (_plan, name) => (name === 'red-2' ? new Status('Unschedulable', 'Insufficient cpu') : undefined),
      });
      binding.start(plan());
      while (turns.length < 1) await nextTurn();
      revision++;
      turns[0]!();
      await binding.idle();
      expect([turns.length, sent]).toEqual([1, []]);
      expect(finished(results)).toHaveLength(3);
    });

    it('starts no member whose plan no longer holds, even if the plugin checks nothing', async () => {
      const started: string[] = [];
      const options = {
        startsPerTurn: 1,
        enough: 3,
        bind: ({ name }: PodBinding): Promise<void> => {
          started.push(name);
          options.enough = 4;
          return Promise.resolve();
        },
      };
      const { binding, plan, results } = fixture(options);
      binding.start(plan());
      await binding.idle();
      expect(started).toEqual(['red-0']);
      expect(finished(results)).toEqual(['red-1', 'red-2'].map((pod) => ({ pod, reason: 'too few members are left' })));
    });

    it('does not wait for Permit if its group changed before it began to wait', async () => {
      const options = { startsPerTurn: 2, enough: 3, plugins: [{ name: 'Gate', permit: () => ({ waitMs: 60_000 }) }] };
      const { harness, binding, plan, results, bound } = fixture(options);
      binding.start(plan());
      options.enough = 4;
      binding.reconcile('default/red');
      await nextTurn();
      await settle();
      expect([binding.running, binding.onPermit.size, harness.waitingPods.size, bound]).toEqual([0, 0, 0, []]);
      expect(finished(results)).toHaveLength(3);
    });

    it.each([
      { after: 0, starts: 0 },
      { after: 1, starts: 3 },
    ])('starts $starts members if the scheduler stops after it has sent $after Bindings', async ({ after, starts }) => {
      const { binding, plan, stop, results, turns, sent } = queuedBindings({ startsPerTurn: 1 });
      binding.start(plan());
      while (turns.length < after) await nextTurn();
      turns[0]?.();
      await settle();
      stop.abort(new Error('stopping'));
      for (let turn = 0; turn < 4; turn++) await nextTurn();
      for (const turn of turns) turn();
      await binding.drained();
      await binding.idle();
      expect(sent).toHaveLength(starts);
      expect(finished(results)).toHaveLength(3 - starts);
    });
  });

  describe('after a stop', () => {
    it('undoes a plan that has sent no binding', async () => {
      const { binding, plan, stop, turns, sent, results } = queuedBindings();
      binding.start(plan());
      await settle();
      stop.abort(new Error('stopping'));
      for (const turn of turns) turn();
      await binding.drained();
      await binding.idle();
      expect(sent).toEqual([]);
      expect(finished(results).map(({ reason }) => reason)).toEqual(
        Array.from({ length: 3 }, () => expect.stringContaining('the scheduler is stopping') as string),
      );
    });

    it('finishes a plan that has sent a binding', async () => {
      const { binding, plan, stop, turns, sent, results } = queuedBindings();
      binding.start(plan());
      await settle();
      turns[0]!();
      await settle();
      stop.abort(new Error('stopping'));
      turns[1]!();
      await settle();
      turns[2]!();
      await binding.drained();
      await binding.idle();
      expect(sent).toEqual(['red-0', 'red-1', 'red-2']);
      expect(finished(results)).toEqual([]);
    });
  });
});

describe('a Bind plugin that sends its own request', () => {
  it('keeps the member assumed until its call returns, even if the plan is given up in the meantime', async () => {
    const response = deferred();
    const seen: string[] = [];
    const own: Plugin = {
      name: 'Own',
      reserve: () => undefined,
      unreserve: (_state, pod) => void seen.push(`unreserve ${pod.name}`),
      bind: async (_state, pod) => {
        if (pod.name !== 'red-0') return new Status('Skip', '');
        await response.promise;
        seen.push(`bound ${pod.name}`);
        return undefined;
      },
    };
    const core = new Scheduling({ plugins: [{ name: own.name, factory: () => own }, ...defaultPlugins] });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 1 });
    await core.attempt();
    const [first] = core.binds.map(({ binding }) => binding);
    core.removePod('red-2');
    expect(() => first!.mayBeSent!()).toThrow('has only 2 of the 3 members');
    await core.settle();
    expect(['red-0', 'red-1'].map((uid) => core.harness.cluster.isAssumed(uid))).toEqual([true, false]);
    response.resolve();
    await core.settle();
    expect(seen).toEqual(['unreserve red-2', 'unreserve red-1', 'bound red-0']);
    expect(core.harness.events).toContain('Scheduled red-0');
  });
});
