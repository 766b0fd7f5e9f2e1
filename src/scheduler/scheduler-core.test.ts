import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/pod.ts';
import { planAnnotations } from '../api/pod.ts';
import { deferred } from '../base/deferred.ts';
import type { Plugin } from '../framework/plugin.ts';
import { Status } from '../framework/status.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import type { VerdictOutcome, VerdictSink } from './ports.ts';
import { CoreHarness } from '../testkit/core-harness.ts';
import type { Queueing } from '../testkit/queueing.ts';
import { Scheduling } from '../testkit/scheduling.ts';

const waits: Plugin = { name: 'Gate', permit: () => ({ waitMs: 60_000 }) };

/** A core with a node of `cores` CPUs and PodGroup red with this minMember. */
function coreFor(quorum: number, cores: number, ...extra: Plugin[]): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins, extra });
  core.node({ name: 'a', cpu: cores });
  core.group({ name: 'red', minMember: quorum });
  return core;
}

describe('a core that has not begun', () => {
  function listing(): Scheduling {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.pod({ name: 'lone', cpu: 1 });
    return core;
  }

  it('only fills its cache', async () => {
    const core = listing();
    const { cluster } = core.harness;
    expect([cluster.nodes.length, cluster.podCount, cluster.gang('default/red')!.pending.size]).toEqual([1, 3, 2]);
    expect(core.states()).toEqual({});
    expect([await core.attempt(), core.harness.asked]).toEqual([undefined, 0]);
  });

  it('removes deleted objects from its cache', () => {
    const core = listing();
    core.removePod('lone');
    core.removeGroup('default/red');
    core.removeNode('a');
    expect([core.harness.cluster.podCount, core.harness.cluster.nodes]).toEqual([2, []]);
    core.start();
    expect(core.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('fills its queue when it begins, and requests attempts', async () => {
    const core = listing();
    core.start();
    expect(core.states()).toEqual({ 'gang/default/red': 'active', 'pod/lone': 'active' });
    expect(core.harness.asked).toBeGreaterThan(0);
    expect([await core.attempt(), await core.attempt(), await core.attempt()]).toEqual([
      'planned',
      'planned',
      undefined,
    ]);
  });

  it('fills its queue only once', () => {
    const core = listing();
    core.start();
    core.popAll();
    const { asked } = core.harness;
    core.start();
    expect([core.states(), core.harness.asked]).toEqual([{}, asked]);
  });

  it('reports a disagreement of label and annotation once, also for pods that existed at the start', () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.pod({ name: 'conflicting', group: 'red', groupAnnotation: 'blue' });
    core.pod({ name: 'foreign', group: 'red', groupAnnotation: 'blue', schedulerName: 'other' });
    expect(core.harness.events).toEqual([]);
    core.start();
    core.change('conflicting', { labels: {} });
    expect(core.harness.events).toEqual(['PodGroupDisagreement conflicting']);
  });

  it('reports an invalid run time once, beside other mistakes of the pod', () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.pod({ name: 'odd', group: 'red', groupAnnotation: 'blue', runtime: 'soon' });
    core.pod({ name: 'foreign', runtime: 'soon', schedulerName: 'other' });
    core.change('odd', { invalidRuntime: 'later' });
    expect(core.harness.events).toEqual(['PodGroupDisagreement odd', 'InvalidRuntime odd']);
  });

  it('reports once that only another gang scheduler would find the group of a pod', () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    const labels = { 'pod-group.scheduling.sigs.k8s.io': 'red' };
    core.pod({ name: 'odd', labels });
    core.change('odd', { resourceVersion: '9' });
    core.pod({ name: 'member', group: 'red', labels });
    core.pod({ name: 'running', nodeName: 'a', labels });
    core.pod({ name: 'foreign', labels, schedulerName: 'other' });
    expect(core.harness.events.filter((event) => event.startsWith('LabelMissing'))).toEqual(['LabelMissing odd']);
  });
});

describe('a running core', () => {
  it('requests an attempt only when an entity becomes active', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    const requestsAttempt = (change: () => unknown): boolean => {
      const before = core.harness.asked;
      change();
      return core.harness.asked > before;
    };
    expect(requestsAttempt(() => core.node({ name: 'a', cpu: 1 }))).toBe(false);
    expect(requestsAttempt(() => core.pod({ name: 'gated', gates: ['wait'] }))).toBe(false);
    expect(requestsAttempt(() => core.pod({ name: 'foreign', schedulerName: 'other' }))).toBe(false);
    core.group({ name: 'red', minMember: 2 });
    expect(requestsAttempt(() => core.pod({ name: 'red-0', group: 'red', cpu: 2 }))).toBe(false);
    expect(requestsAttempt(() => core.pod({ name: 'red-1', group: 'red', cpu: 2 }))).toBe(true);
    expect(await core.attempt()).toBe('rejected');
    expect(requestsAttempt(() => core.node({ name: 'a', cpu: 1, labels: { more: 'labels' } }))).toBe(false);
    expect(requestsAttempt(() => core.node({ name: 'b', cpu: 8 }))).toBe(true);
  });

  it('does nothing in an attempt if the active queue is empty', async () => {
    const core = coreFor(2, 2);
    core.pod({ name: 'red-0', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBeUndefined();
    expect([core.harness.events, core.harness.written]).toEqual([[], []]);
  });

  it('needs no attempt for a pod that was deleted while it was queued', async () => {
    const core = coreFor(1, 1);
    core.pod({ name: 'x', cpu: 1 });
    core.removePod('x');
    expect(await core.attempt()).toBeUndefined();
  });

  it('treats a pod as settled once the watch shows it bound, whichever process bound it', async () => {
    const core = coreFor(1, 2);
    core.pod({ name: 'x', cpu: 1 });
    core.change('x', { nodeName: 'a' });
    expect([await core.attempt(), core.states()]).toEqual([undefined, {}]);
    expect(core.harness.cluster.node('a')!.free(0)).toBe(1000);
  });
});

describe('stop', () => {
  it('gives up pods that wait on Permit, without a binding or a verdict', async () => {
    const core = coreFor(2, 2, waits);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    expect(core.harness.waitingPods.size).toBe(2);
    await core.harness.core.stop();
    expect(core.harness.waitingPods.size).toBe(0);
    expect([core.binds, core.harness.written, core.harness.events]).toEqual([[], [], []]);
  });

  it('aborts running bindings', async () => {
    const aborted: string[] = [];
    const harness = new CoreHarness({
      plugins: defaultPlugins,
      binder: {
        bind: ({ name }, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted.push(name);
              reject(signal.reason as Error);
            });
          }),
      },
    });
    harness.node({ name: 'a', cpu: 2 });
    harness.group({ name: 'red', minMember: 2 });
    harness.pods(2, { group: 'red', cpu: 1 });
    harness.core.begin();
    expect(harness.core.attempt()?.kind).toBe('planned');
    await new Promise(setImmediate);
    await harness.core.stop();
    expect(aborted).toEqual(['red-0', 'red-1']);
    expect([harness.core.binding.running, harness.written, harness.warnings]).toEqual([0, [], []]);
  });

  it('resolves once no binding is running', async () => {
    const core = coreFor(2, 2);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    let isStopped = false;
    const stopped = core.harness.core.stop().then(() => (isStopped = true));
    await core.accept('red-0');
    expect(isStopped).toBe(false);
    await core.accept('red-1');
    await stopped;
    expect(core.harness.events).toEqual(['Scheduled red-0', 'Scheduled red-1', 'Scheduled red']);
  });

  it('runs Unreserve for everything that it gives up, in reverse order', async () => {
    const reserved: string[] = [];
    const quota: Plugin = {
      name: 'Quota',
      reserve: (_state, { name }) => void reserved.push(name),
      unreserve: (_state, { name }) => void reserved.splice(reserved.lastIndexOf(name), 1),
    };
    const core = coreFor(2, 2, quota, waits);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    expect(reserved).toEqual(['red-0', 'red-1']);
    expect(await core.harness.core.stop()).toBe(true);
    expect(reserved).toEqual([]);
    expect(core.harness.cluster.assumedCount).toBe(0);
  });

  it('resolves to false if a plugin call has not returned, because it may still act', async () => {
    const endless: Plugin = { name: 'Endless', preBind: () => new Promise(() => undefined) };
    const core = coreFor(2, 2, endless);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    const stopped = core.harness.core.stop({ drainMs: 15_000 });
    await core.settle();
    core.harness.clock.advance(5_000);
    expect(await stopped).toBe(false);
  });

  it('ends all attempts, and later changes request none', async () => {
    const core = coreFor(2, 2);
    core.pod({ name: 'x', cpu: 1 });
    await core.harness.core.stop();
    const { asked } = core.harness;
    core.pod({ name: 'y', cpu: 1 });
    core.node({ name: 'b' });
    core.pod({ name: 'blue-0', group: 'blue' });
    core.group({ name: 'blue', minMember: 2 });
    expect(core.harness.clock.untilNextTimer()).toBeUndefined();
    core.harness.clock.advance(10 * 60_000);
    expect([await core.attempt(), core.harness.asked]).toEqual([undefined, asked]);
    expect(core.harness.core.isRunning).toBe(false);
  });

  it('cancels all timers', async () => {
    const core = coreFor(2, 2, waits);
    core.members(2, { group: 'red', cpu: 1 });
    core.pod({ name: 'blue-0', group: 'blue' });
    core.pod({ name: 'large', cpu: 64, priority: 1 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['rejected', 'planned']);
    expect(core.harness.clock.untilNextTimer()).toBeDefined();
    await core.harness.core.stop();
    expect(core.harness.clock.untilNextTimer()).toBeUndefined();
  });

  it('cancels the timers of reservations', async () => {
    const core = coreFor(2, 2);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    await core.accept('red-0');
    await core.reject('red-1', 'no');
    expect(core.harness.cluster.reservationOf('red-1')).toMatchObject({ kind: 'repair' });
    await core.harness.core.stop();
    expect(core.harness.clock.untilNextTimer()).toBeUndefined();
  });

  it('may be called before the start, and twice', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    await core.harness.core.stop();
    await core.harness.core.stop();
    expect(core.harness.core.isRunning).toBe(false);
  });
});

describe('a gang', () => {
  it('gets bindings that identify the plan, and an Event per member and for the group', async () => {
    const core = coreFor(2, 4);
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    const annotations = {
      [planAnnotations.groupUid]: 'red',
      [planAnnotations.plan]: 'test-1',
      [planAnnotations.quorum]: '2',
    };
    expect(core.binds.map(({ binding }) => binding)).toMatchObject(
      ['red-0', 'red-1'].map((name) => ({ namespace: 'default', name, uid: name, nodeName: 'a', annotations })),
    );
    expect(core.harness.events).toEqual([]);
    await core.accept('red-0');
    await core.accept('red-1');
    expect(core.harness.events).toEqual(['Scheduled red-0', 'Scheduled red-1', 'Scheduled red']);
    expect(core.harness.cluster.assumedCount).toBe(2);
    core.change('red-0', { nodeName: 'a' });
    core.change('red-1', { nodeName: 'a' });
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect([core.states(), core.harness.written]).toEqual([{}, []]);
  });

  it('gets a new plan ID in each attempt that binds', async () => {
    const core = coreFor(2, 4);
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.group({ name: 'blue', minMember: 1 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1 });
    await core.attempt();
    const plans = core.binds.map(({ binding }) => binding.annotations[planAnnotations.plan]);
    expect(plans).toEqual(['test-1', 'test-1', 'test-2']);
  });

  it('that is rejected gets one verdict on every member, the lowest uid first, and an Event for each', async () => {
    const urgent: string[] = [];
    const written: string[] = [];
    const core = new Scheduling({
      plugins: defaultPlugins,
      ports: {
        verdicts: {
          write: ({ name }, _verdict, { isFirst, since }) => {
            written.push(name);
            if (isFirst) urgent.push(`${name} since ${since}`);
            return Promise.resolve('written');
          },
        },
      },
    });
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 3 });
    core.pod({ name: 'z', uid: '1', group: 'red', cpu: 1 });
    core.pod({ name: 'y', uid: '0', group: 'red', cpu: 1 });
    core.pod({ name: 'x', uid: '2', group: 'red', cpu: 1 });
    core.harness.clock.advance(5000);
    expect(await core.attempt()).toBe('rejected');
    expect([written, urgent]).toEqual([['y', 'z', 'x'], ['y since 5000']]);
    expect(core.harness.events).toEqual([
      'FailedScheduling y',
      'FailedScheduling red',
      'FailedScheduling z',
      'FailedScheduling x',
    ]);
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    expect(core.harness.cluster.assumedCount).toBe(0);
  });

  it('is retried when capacity is added, and is bound as a whole', async () => {
    const core = coreFor(2, 1);
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    core.node({ name: 'b', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    expect(core.binds.map(({ binding }) => binding.nodeName).sort()).toEqual(['a', 'b']);
  });
});

describe('a verdict', () => {
  /** A core whose pod `x` does not fit, and a sink with these results, in order. */
  function rejecting(...results: (VerdictOutcome | Error)[]): { core: Scheduling; versions: string[] } {
    const versions: string[] = [];
    const verdicts: VerdictSink = {
      write: ({ resourceVersion }) => {
        versions.push(resourceVersion);
        const result = results.shift() ?? 'written';
        return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
      },
    };
    const core = new Scheduling({ plugins: defaultPlugins, ports: { verdicts } });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 2, resourceVersion: 'v1' });
    return { core, versions };
  }

  it('that met a newer version of the pod is rewritten when the watch delivers it', async () => {
    const { core, versions } = rejecting('outdated', 'outdated');
    await core.attempt();
    expect(versions).toEqual(['v1']);
    for (const resourceVersion of ['v2', 'v3']) {
      core.change('x', { resourceVersion });
      await core.settle();
    }
    expect(versions).toEqual(['v1', 'v2', 'v3']);
    expect(core.harness.events).toEqual(['FailedScheduling x']);
  });

  it('is not written to a pod that already carries it', async () => {
    const { core, versions } = rejecting();
    await core.attempt();
    const { message, reason } = core.harness.core.verdictOf('x')!;
    core.change('x', { resourceVersion: 'v2', podScheduled: { status: 'False', reason, message } });
    core.change('x', { resourceVersion: 'v3', podScheduled: { status: 'False', reason, message } });
    await core.settle();
    expect(versions).toEqual(['v1']);
  });

  it('is not rewritten once the pod is bound or deleted', async () => {
    for (const change of [
      (core: Scheduling) => core.change('x', { resourceVersion: 'v2', nodeName: 'a' }),
      (core: Scheduling) => core.removePod('x'),
    ]) {
      const { core, versions } = rejecting('outdated');
      await core.attempt();
      change(core);
      await core.settle();
      expect(versions).toEqual(['v1']);
    }
  });

  it('is dropped without a warning if the pod is gone', async () => {
    const { core, versions } = rejecting('gone');
    await core.attempt();
    core.change('x', { resourceVersion: 'v2' });
    await core.settle();
    expect([versions, core.harness.warnings]).toEqual([['v1'], []]);
  });

  it('that cannot be written is logged and retried', async () => {
    const { core, versions } = rejecting(new Error('forbidden'), new Error('forbidden'));
    await core.attempt();
    expect(core.harness.warnings).toEqual(['could not write a verdict; retrying']);
    core.change('x', { resourceVersion: 'v2' });
    await core.settle();
    for (let second = 0; second < 60; second++) {
      core.harness.clock.advance(1_000);
      await core.settle();
    }
    expect(versions).toEqual(['v1', 'v2', 'v2']);
  });

  it('whose write is aborted by the stop is not logged', async () => {
    const result = deferred<VerdictOutcome>();
    const write: VerdictSink['write'] = (_pod, _verdict, _urgency, signal) => {
      signal.addEventListener('abort', () => result.reject(signal.reason as Error));
      return result.promise;
    };
    const core = new Scheduling({ plugins: defaultPlugins, ports: { verdicts: { write } } });
    core.pod({ name: 'x', cpu: 2 });
    await core.attempt();
    await core.harness.core.stop();
    await core.settle();
    expect(core.harness.warnings).toEqual([]);
  });
});

describe('a pod waiting on Permit', () => {
  function waiting(...extra: Plugin[]): Promise<Scheduling> {
    const core = coreFor(2, 2, waits, ...extra);
    core.members(2, { group: 'red', cpu: 1 });
    return core.attempt().then(() => core);
  }

  it('that is deleted ends the plan for its siblings: no member is bound, all capacity is freed', async () => {
    const unreserved: string[] = [];
    const core = await waiting({ name: 'Undoing', unreserve: (_state, { name }) => void unreserved.push(name) });
    core.removePod('red-0');
    await core.settle();
    expect([core.binds, core.harness.waitingPods.size, core.harness.cluster.assumedCount]).toEqual([[], 0, 0]);
    expect(core.harness.cluster.node('a')!.free(0)).toBe(2000);
    expect(unreserved).toEqual(['red-1', 'red-0']);
    expect(core.states()).toEqual({ 'gang/default/red': 'gated' });
    expect(core.harness.verdicts).toEqual(['red-1 PodGroup default/red: the pod was deleted or bound elsewhere.']);
  });

  it('that is bound elsewhere ends the plan, too', async () => {
    const core = await waiting();
    core.change('red-0', { nodeName: 'elsewhere' });
    await core.settle();
    expect([core.binds, core.harness.waitingPods.size, core.harness.cluster.assumedCount]).toEqual([[], 0, 0]);
    expect(core.harness.cluster.gang('default/red')!.counted).toBe(1);
  });

  it('keeps waiting if it only changes', async () => {
    const core = await waiting();
    core.change('red-0', { labels: { seen: 'late' } });
    await core.settle();
    expect(core.harness.waitingPods.size).toBe(2);
    for (const pod of core.harness.waitingPods.all()) pod.allow('Gate');
    await core.settle();
    expect(core.binds).toHaveLength(2);
  });

  it('that is replaced lets the group start with the replacement', async () => {
    const core = await waiting();
    core.removePod('red-0');
    await core.settle();
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    expect(core.harness.waitingPods.all().map(({ pod }) => pod.name)).toEqual(['red-1', 'red-2']);
  });
});

describe('the metrics', () => {
  async function values(core: Queueing, name: string): Promise<Record<string, number>> {
    const metric = await core.harness.registry.getSingleMetric(name)!.get();
    return Object.fromEntries(metric.values.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
  }

  it('count attempts by result and profile, once per gang member', async () => {
    const core = new Scheduling({
      plugins: defaultPlugins,
      extra: [{ name: 'Broken', preFilter: () => new Status('Error', 'a bug') }],
      profiles: { ml: ({ name }) => name !== 'Broken', web: ({ name }) => name !== 'Broken', odd: () => true },
    });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 1, schedulerName: 'ml' });
    core.pod({ name: 'x', cpu: 1, schedulerName: 'web' });
    core.pod({ name: 'y', cpu: 1, schedulerName: 'web' });
    core.pod({ name: 'z', schedulerName: 'odd' });
    while ((await core.attempt()) !== undefined);
    expect(await values(core, 'scheduler_schedule_attempts_total')).toEqual({
      'unschedulable web': 1,
      'error odd': 1,
    });
    for (const name of ['red-0', 'red-1', 'red-2', 'x']) await core.accept(name);
    expect(await values(core, 'scheduler_schedule_attempts_total')).toEqual({
      'unschedulable web': 1,
      'error odd': 1,
      'scheduled ml': 3,
      'scheduled web': 1,
    });
    expect(await values(core, 'scheduler_podgroup_schedule_attempts_total')).toEqual({ 'scheduled ml podgroup': 1 });
  });

  it('count pending pods by queue, including members of waiting groups', async () => {
    const core = coreFor(3, 1);
    core.members(3, { group: 'red', cpu: 1, priority: 1 });
    core.pod({ name: 'blue-0', group: 'blue' });
    core.pod({ name: 'blue-1', group: 'blue', gates: ['wait'] });
    core.pod({ name: 'blue-2', group: 'blue', nodeName: 'elsewhere' });
    core.pod({ name: 'gated', gates: ['wait'] });
    core.pod({ name: 'x', cpu: 1 });
    const pending = (): Promise<Record<string, number>> => values(core, 'scheduler_pending_pods');
    expect(await pending()).toEqual({ active: 4, backoff: 0, unschedulable: 0, gated: 3 });
    await core.attempt();
    expect(await pending()).toEqual({ active: 1, backoff: 0, unschedulable: 3, gated: 3 });
    core.node({ name: 'b', cpu: 8 });
    expect(await pending()).toEqual({ active: 1, backoff: 3, unschedulable: 0, gated: 3 });
    while ((await core.attempt()) !== undefined);
    expect(await pending()).toEqual({ active: 0, backoff: 0, unschedulable: 0, gated: 3 });
  });

  it('count a member once if its profile ignores groups', async () => {
    const core = new Scheduling({
      plugins: defaultPlugins,
      profiles: { ml: () => true, web: ({ name }) => name !== 'Coscheduling' },
    });
    core.group({ name: 'red', minMember: 3 });
    core.pod({ name: 'x', group: 'red', schedulerName: 'ml' });
    core.pod({ name: 'y', group: 'red', schedulerName: 'web' });
    expect(core.states()).toEqual({ 'gang/default/red': 'gated', 'pod/y': 'active' });
    expect(await values(core, 'scheduler_pending_pods')).toEqual({ active: 1, backoff: 0, unschedulable: 0, gated: 1 });
  });

  it('count the contents of the cache', async () => {
    const core = coreFor(1, 2);
    core.pod({ name: 'x', cpu: 1 });
    core.pod({ name: 'y', cpu: 1, nodeName: 'a' });
    await core.attempt();
    expect(await values(core, 'scheduler_cache_size')).toEqual({ nodes: 1, pods: 2, assumed_pods: 1 });
  });
});

describe('a dry run', () => {
  it('changes nothing and wakes no entity', async () => {
    const core = coreFor(3, 2);
    const old = core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    const [member] = core.members(3, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    core.pod({ name: 'gated', group: 'blue' });
    core.pod({ name: 'x', cpu: 1 });
    const everything = (): unknown => [
      core.harness.capacities(),
      core.states(),
      core.harness.asked,
      core.harness.events.length,
      core.harness.written.length,
      core.harness.clock.untilNextTimer(),
    ];
    const before = everything();
    const gang = core.harness.cluster.gang('default/red')!;
    const lone = (pod: Pod): { readonly kind: 'pod'; readonly pod: Pod } => ({ kind: 'pod', pod });
    expect(core.harness.core.dryRun({ kind: 'gang', gang }).fits).toBe(false);
    expect(core.harness.core.dryRun({ kind: 'gang', gang }, { without: [old], need: 2 }).fits).toBe(true);
    expect(core.harness.core.dryRun(lone(member!), { without: [old] }).fits).toBe(true);
    await core.settle();
    expect(everything()).toEqual(before);
  });

  it('can run before the core has begun', () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'a', cpu: 1 });
    const pod = core.pod({ name: 'x', cpu: 1 });
    expect(core.harness.core.dryRun({ kind: 'pod', pod }).plan).toEqual([{ pod, nodeName: 'a' }]);
  });
});
