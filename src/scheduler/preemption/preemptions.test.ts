import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { PodEvictor } from '../ports.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

const message = 'Preempts pods on two nodes.';
/** Since the clock starts at midnight: the default grace period of 30 s and a minute. */
const untilLatest = 'until 00:01:30Z at the latest.';
const second = 1000;

type Evictor = Pick<PodEvictor, 'evict'>;
type PostFilter = (
  schedulingEntity: SchedulingEntity,
  handle: PluginHandle,
  victims: readonly Pod[],
) => PostFilterResult | undefined;

/** Nominates the nodes that a dry run without the victims chooses. */
const nominates: PostFilter = (schedulingEntity, handle, victims) => {
  const { fits, plan } = handle.dryRun(schedulingEntity, { without: victims });
  return fits ? { message, nominations: plan, victims } : { message: 'Preemption does not help.' };
};

interface Preempting {
  readonly core: Scheduling;
  /** Number of PostFilter calls. */
  readonly calls: () => number;
  /** member -> node with capacity reserved for it */
  readonly reserved: () => Record<string, string>;
  /** The latest verdict on this pod. */
  readonly verdictOn: (name: string) => string | undefined;
}

function open(postFilter: PostFilter, evictor?: Evictor): Preempting {
  let calls = 0;
  const factory: PluginFactory = (_args, handle): Plugin => ({
    name: 'Preempting',
    postFilter: (schedulingEntity) => {
      calls++;
      const victims = [...handle.cluster.pods()].filter(({ labels }) => labels.victim === 'yes');
      return postFilter(schedulingEntity, handle, victims);
    },
  });
  const core = new Scheduling({
    plugins: [...withoutPreemption, { name: 'Preempting', factory }],
    ...(evictor !== undefined && { ports: { evictor } }),
  });
  const { cluster } = core.harness;
  return {
    core,
    calls: () => calls,
    reserved: () =>
      Object.fromEntries(
        cluster.nodes.flatMap(({ name, reservations }) =>
          [...reservations.values()].map(({ owner }) => [owner.name, name] as const),
        ),
      ),
    verdictOn: (name) => core.harness.written.findLast((written) => written.name === name)?.verdict.message,
  };
}

/** Nodes a and b have two cores each, one of them used by a victim. Gang red needs all four cores at priority 10. */
function redNeedsAll(postFilter: PostFilter = nominates, evictor?: Evictor): Preempting {
  const preempting = open(postFilter, evictor);
  const { core } = preempting;
  for (const name of ['a', 'b']) {
    core.node({ name, cpu: 2 });
    core.pod({ name: `victim-${name}`, cpu: 1, nodeName: name, labels: { victim: 'yes' } });
  }
  core.group({ name: 'red', minMember: 4 });
  core.members(4, { group: 'red', cpu: 1, priority: 10 });
  return preempting;
}

/** Like `redNeedsAll`, after the attempt in which red does not fit. */
async function redDoesNotFit(postFilter: PostFilter = nominates, evictor?: Evictor): Promise<Preempting> {
  const preempting = redNeedsAll(postFilter, evictor);
  expect(await preempting.core.attempt()).toBe('rejected');
  return preempting;
}

/** Expects no eviction, no reservation, and a verdict with the reason. */
function expectNoPreemption({ core, reserved, verdictOn }: Preempting, why: string): void {
  expect([core.harness.evicted, reserved()]).toEqual([[], {}]);
  expect(core.harness.events.filter((event) => event.startsWith('Preempted'))).toEqual([]);
  expect(verdictOn('red-0')).toMatch(/^PodGroup default\/red cannot start: /);
  expect(verdictOn('red-0')!.endsWith(` No pod is preempted: ${why}.`)).toBe(true);
  expect(core.harness.warnings).toEqual(['PostFilter plugin returned invalid victims or nominations']);
}

describe('a gang for which preemption helps', () => {
  it('has all its capacity reserved before the first victim is evicted', async () => {
    const reservedAtEviction: number[] = [];
    const { core, reserved } = redNeedsAll(nominates, {
      evict: () => {
        reservedAtEviction.push(Object.keys(reserved()).length);
        return Promise.resolve();
      },
    });
    await core.attempt();
    expect(reservedAtEviction).toEqual([4, 4]);
    const byNode = Object.entries(reserved()).map(([name, node]) => `${node} ${name.split('-')[0]}`);
    expect(byNode.sort()).toEqual(['a red', 'a red', 'b red', 'b red']);
  });

  it('gets each victim evicted once, with an Event, and a verdict that explains it', async () => {
    const { core, verdictOn } = await redDoesNotFit();
    expect(core.harness.evicted).toEqual(['victim-a', 'victim-b']);
    const ofPreemption = core.harness.events.filter((event) => event.startsWith('Preempt'));
    expect(ofPreemption).toEqual(['PreemptionStarted red', 'Preempted victim-a', 'Preempted victim-b']);
    const waiting = ` ${message} Waiting for 2 of 2 victims to terminate, ${untilLatest}`;
    for (const name of ['red-0', 'red-1', 'red-2', 'red-3']) expect(verdictOn(name)!.endsWith(waiting)).toBe(true);
    expect(core.harness.written[0]!.verdict).toMatchObject({ reason: 'Unschedulable', waitsFor: 'capacity' });
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    expect(core.harness.warnings).toEqual([]);
  });

  it('keeps its capacity from pods of equal or lower priority, but not from pods of higher priority', async () => {
    const { core } = await redDoesNotFit();
    core.pod({ name: 'equal', cpu: 1, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    core.pod({ name: 'lower', cpu: 1, priority: 0 });
    expect(await core.attempt()).toBe('rejected');
    core.group({ name: 'blue', minMember: 2 });
    core.members(2, { group: 'blue', cpu: 1, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    core.pod({ name: 'higher', cpu: 1, priority: 11 });
    expect(await core.attempt()).toBe('planned');
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['higher']);
  });

  it('is bound as a whole once the victims are gone; no other pod takes the capacity in the meantime', async () => {
    const { core, reserved } = await redDoesNotFit();
    core.pod({ name: 'other', cpu: 1, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    core.removePod('victim-a');
    while ((await core.attempt()) !== undefined);
    expect(core.binds).toEqual([]);
    core.removePod('victim-b');
    while ((await core.attempt()) !== undefined);
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-0', 'red-1', 'red-2', 'red-3']);
    for (const { binding } of [...core.binds]) {
      await core.accept(binding.name);
      core.change(binding.name, { nodeName: binding.nodeName });
    }
    expect([reserved(), core.states()]).toEqual([{}, { 'pod/other': 'unschedulable' }]);
  });

  it('is not partially bound while a victim is still terminating', async () => {
    const { core } = await redDoesNotFit();
    core.change('victim-a', { deleting: true });
    core.removePod('victim-b');
    expect(await core.attempt()).toBeUndefined();
    expect([core.binds, core.harness.cluster.assumedCount]).toEqual([[], 0]);
  });

  it('uses other nodes if they are added first, and its reservations then end', async () => {
    const { core, reserved } = await redDoesNotFit();
    core.node({ name: 'c', cpu: 4 });
    core.harness.clock.advance(second);
    expect(await core.attempt()).toBe('planned');
    for (const { binding } of [...core.binds]) {
      await core.accept(binding.name);
      core.change(binding.name, { nodeName: binding.nodeName });
    }
    expect(reserved()).toEqual({});
    core.pod({ name: 'next', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
  });

  it('may be a pod without a group', async () => {
    const { core, reserved } = open(nominates);
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'victim', cpu: 1, nodeName: 'a', labels: { victim: 'yes' } });
    core.pod({ name: 'x', cpu: 2, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    expect([core.harness.evicted, reserved()]).toEqual([['victim'], { x: 'a' }]);
    core.removePod('victim');
    expect(await core.attempt()).toBe('planned');
  });

  it('only needs capacity for the missing members', async () => {
    const { core, reserved } = open(nominates);
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'victim', cpu: 1, nodeName: 'a', labels: { victim: 'yes' } });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'bound', group: 'red', cpu: 1, priority: 10, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    expect(Object.values(reserved())).toEqual(['a']);
    core.removePod('victim');
    expect(await core.attempt()).toBe('planned');
    expect(core.binds).toHaveLength(1);
  });
});

describe('while capacity is reserved for an entity', () => {
  it('PostFilter is not called again, no further pod is evicted, and the verdict keeps its message', async () => {
    const { core, calls, verdictOn } = await redDoesNotFit();
    // An event that may help, but does not suffice.
    core.node({ name: 'c', cpu: 1 });
    core.harness.clock.advance(second);
    expect(await core.attempt()).toBe('rejected');
    expect(calls()).toBe(1);
    expect(core.harness.evicted).toHaveLength(2);
    const waiting = ` ${message} Waiting for 2 of 2 victims to terminate, ${untilLatest}`;
    expect(verdictOn('red-0')!.endsWith(waiting)).toBe(true);
    expect(core.harness.core.verdictOf('red-0')!.waitsFor).toBe('capacity');
  });

  it('the end of a victim does not wake the entity, but that of the last one does, without a delay', async () => {
    const { core, verdictOn } = await redDoesNotFit();
    core.change('victim-a', { deleting: true });
    core.removePod('victim-a');
    core.harness.clock.advance(10 * second);
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    expect(await core.attempt()).toBeUndefined();
    expect(verdictOn('red-0')).toContain('Waiting for 2 of 2');
    core.removePod('victim-b');
    expect(core.states()).toEqual({ 'gang/default/red': 'active' });
    expect(await core.attempt()).toBe('planned');
  });

  it('the entity is tried at most once a second', async () => {
    const { core } = await redDoesNotFit();
    core.node({ name: 'c', cpu: 1 });
    expect([core.states(), await core.attempt()]).toEqual([{ 'gang/default/red': 'backoff' }, undefined]);
    for (let i = 0; i < 10; i++) {
      core.harness.clock.advance(second);
      expect(await core.attempt()).toBe('rejected');
      core.node({ name: `c${i}`, cpu: '1' });
      core.removeNode(`c${i}`);
      expect(await core.attempt()).toBeUndefined();
    }
  });

  it('PostFilter is called for other entities', async () => {
    const { core, calls } = await redDoesNotFit();
    core.pod({ name: 'x', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    expect(calls()).toBe(2);
  });

  it('the reservation ends a minute after the longest grace period, and the queue wakes waiting pods', async () => {
    const { core, reserved } = await redDoesNotFit();
    core.pod({ name: 'x', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    core.harness.clock.advance(90 * second - 1);
    expect([Object.keys(reserved()).length, core.states()['pod/x']]).toEqual([4, 'unschedulable']);
    core.harness.clock.advance(1);
    expect([reserved(), core.states()['pod/x']]).toEqual([{}, 'active']);
  });

  it('its deadline has no effect if the entity is bound', async () => {
    const { core, reserved } = await redDoesNotFit();
    core.removePod('victim-a');
    core.removePod('victim-b');
    expect(await core.attempt()).toBe('planned');
    for (const { binding } of [...core.binds]) {
      await core.accept(binding.name);
      core.change(binding.name, { nodeName: binding.nodeName });
    }
    core.pod({ name: 'x', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    core.harness.clock.advance(90 * second);
    expect([reserved(), core.states()]).toEqual([{}, { 'pod/x': 'unschedulable' }]);
  });
});

it('a member of a former group with the same name can be evicted alone, whatever minMember is now', async () => {
  const { core } = redNeedsAll();
  const former = { group: 'blue', cpu: 1, annotations: { [planAnnotations.groupUid]: 'first' } };
  core.group({ name: 'blue', uid: 'second', minMember: 2 });
  core.pod({ ...former, name: 'victim-a', nodeName: 'a', labels: { victim: 'yes' } });
  core.pod({ ...former, name: 'other', nodeName: 'gone' });
  expect(await core.attempt()).toBe('rejected');
  expect(core.harness.evicted).toEqual(['victim-a', 'victim-b']);
});

it('a member of a former group with the name of the preemptor can be evicted', async () => {
  const { core } = redNeedsAll();
  const annotations = { [planAnnotations.groupUid]: 'first' };
  core.pod({ name: 'victim-a', group: 'red', cpu: 1, annotations, nodeName: 'a', labels: { victim: 'yes' } });
  expect(await core.attempt()).toBe('rejected');
  expect(core.harness.evicted).toEqual(['victim-a', 'victim-b']);
});

describe('no pod is evicted', () => {
  it('if too few members are nominated', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan.slice(1), victims };
    });
    expectNoPreemption(preempting, 'only 3 of 4 required members are nominated');
  });

  it('if one member is nominated several times', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      const [first] = handle.dryRun(schedulingEntity, { without: victims }).plan;
      return { message, nominations: Array.from({ length: 4 }, () => first!), victims };
    });
    expectNoPreemption(preempting, 'only 1 of 4 required members are nominated');
  });

  it('if the evictions would not help', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan, victims: victims.slice(1) };
    });
    expectNoPreemption(
      preempting,
      'it would not fit on the nominated nodes even without the victims (Insufficient cpu)',
    );
  });

  it('if the evictions would only help on other nodes than the nominated ones', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan.map(({ pod }) => ({ pod, nodeName: 'a' })), victims };
    });
    expectNoPreemption(
      preempting,
      'it would not fit on the nominated nodes even without the victims (Insufficient cpu)',
    );
  });

  it('for nominated nodes that do not exist', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan.map(({ pod }) => ({ pod, nodeName: 'gone' })), victims };
    });
    expectNoPreemption(
      preempting,
      'it would not fit on the nominated nodes even without the victims (the chosen node was not found)',
    );
  });

  it('if a victim is a pending member of the same gang', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan, victims: [...victims, plan[0]!.pod] };
    });
    expectNoPreemption(preempting, 'victim default/red-0 belongs to the group itself');
  });

  it('if a victim is a bound member of the same gang', async () => {
    const preempting = open((schedulingEntity, handle) => {
      const own = [...handle.cluster.pods()].filter(({ name }) => name === 'red-bound');
      return { message, nominations: handle.dryRun(schedulingEntity, { without: own }).plan, victims: own };
    });
    const { core } = preempting;
    core.node({ name: 'a', cpu: 3 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-bound', group: 'red', cpu: 2, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: '1500m' });
    expect(await core.attempt()).toBe('rejected');
    expectNoPreemption(preempting, 'victim default/red-bound belongs to the group itself');
  });

  it('if no member is nominated', async () => {
    const preempting = await redDoesNotFit((_candidate, _handle, victims) => ({ message, victims }));
    expectNoPreemption(preempting, 'only 0 of 4 required members are nominated');
  });

  it('and nothing is reserved if there are nominations without victims', async () => {
    const preempting = await redDoesNotFit((schedulingEntity, handle, victims) => {
      return { message, nominations: handle.dryRun(schedulingEntity, { without: victims }).plan };
    });
    expectNoPreemption(
      preempting,
      'it would not fit on the nominated nodes even without the victims (Insufficient cpu)',
    );
  });

  it('if PostFilter returns only a message or nothing; it is then called in each attempt', async () => {
    const withMessage = await redDoesNotFit(() => ({ message: 'Nothing can be preempted.' }));
    expect(withMessage.verdictOn('red-0')!.endsWith(' Nothing can be preempted.')).toBe(true);
    const withoutResult = await redDoesNotFit(() => undefined);
    expect(withoutResult.verdictOn('red-0')!.endsWith(' in total. It is first in line for cpu.')).toBe(true);
    for (const { core, calls, reserved } of [withMessage, withoutResult]) {
      core.removePod('victim-a');
      expect(await core.attempt()).toBe('rejected');
      expect([calls(), core.harness.evicted, reserved(), core.harness.warnings]).toEqual([2, [], {}, []]);
    }
  });

  it('if a plugin throws, and the verdict names it', async () => {
    const { core, reserved, verdictOn } = await redDoesNotFit(() => {
      throw new Error('a bug');
    });
    expect(verdictOn('red-0')).toContain('Preempting failed in PostFilter: a bug');
    expect([core.harness.evicted, reserved()]).toEqual([[], {}]);
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    core.node({ name: 'c', cpu: 4 });
    expect(await core.attempt()).toBe('planned');
  });

  it('for a gang that fits; PostFilter is then not called', async () => {
    const { core, calls } = open(nominates);
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    expect(calls()).toBe(0);
  });
});

describe('a rejected eviction', () => {
  /** An evictor that fails for victim-a. */
  function failingEvictor(): { evictor: Evictor; reported: string[] } {
    const reported: string[] = [];
    const evict: PodEvictor['evict'] = ({ name }) => {
      reported.push(name);
      return name === 'victim-a' ? Promise.reject(new Error('forbidden')) : Promise.resolve();
    };
    return { evictor: { evict }, reported };
  }

  it('is logged, and the other victims are still evicted', async () => {
    const { evictor, reported } = failingEvictor();
    const { core, reserved } = await redDoesNotFit(nominates, evictor);
    expect(reported).toEqual(['victim-a', 'victim-b']);
    expect(core.harness.warnings).toEqual(['could not evict a pod']);
    expect(Object.keys(reserved())).toHaveLength(4);
  });

  it('does no harm: the gang starts when the victim terminates for another reason', async () => {
    const { core } = await redDoesNotFit(nominates, failingEvictor().evictor);
    core.removePod('victim-b');
    core.change('victim-a', { phase: 'Succeeded' });
    expect(await core.attempt()).toBe('planned');
    expect(core.binds).toHaveLength(4);
  });

  it('blocks other pods until the deadline at the latest', async () => {
    const { core } = await redDoesNotFit(nominates, failingEvictor().evictor);
    core.removePod('victim-b');
    core.pod({ name: 'x', cpu: 1 });
    while ((await core.attempt()) !== undefined);
    expect(core.binds).toEqual([]);
    core.harness.clock.advance(90 * second);
    while ((await core.attempt()) !== undefined);
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['x']);
  });

  it('is not logged if the scheduler stops', async () => {
    const signals: AbortSignal[] = [];
    const { core } = await redDoesNotFit(nominates, {
      evict: (_pod, { signal }) =>
        new Promise<never>((_resolve, reject) => {
          signals.push(signal);
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    await core.harness.core.stop();
    await core.settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(core.harness.warnings).toEqual([]);
  });
});
