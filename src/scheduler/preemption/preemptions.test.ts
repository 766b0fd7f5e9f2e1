import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { PodEvictor } from '../ports.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const message = 'Makes room on two nodes.';
const second = 1000;

type Preempts = Pick<PodEvictor, 'evict'>;
type PostFilter = (
  schedulingEntity: SchedulingEntity,
  handle: PluginHandle,
  victims: readonly Pod[],
) => PostFilterResult | undefined;

/** Where everybody goes that is needed, by a trial without the victims. */
const nominates: PostFilter = (schedulingEntity, handle, victims) => {
  const { fits, plan } = handle.dryRun(schedulingEntity, { without: victims });
  return fits ? { message, nominations: plan, victims } : { message: 'There is no way.' };
};

interface Preempting {
  readonly core: Scheduling;
  /** How often PostFilter has been asked. */
  readonly asked: () => number;
  /** member -> node whose room is kept for it */
  readonly kept: () => Record<string, string>;
  /** The last verdict on this pod. */
  readonly verdictOn: (name: string) => string | undefined;
}

function open(postFilter: PostFilter, evictor?: Preempts): Preempting {
  let asked = 0;
  const factory: PluginFactory = (_args, handle): Plugin => ({
    name: 'Preempting',
    postFilter: (schedulingEntity) => {
      asked++;
      const victims = [...handle.cluster.pods()].filter(({ labels }) => labels.victim === 'yes');
      return postFilter(schedulingEntity, handle, victims);
    },
  });
  const core = new Scheduling({
    plugins: [...defaultPlugins, { name: 'Preempting', factory }],
    ...(evictor !== undefined && { ports: { evictor: { ...evictor, release: () => Promise.resolve('going') } } }),
  });
  const { cluster } = core.harness;
  return {
    core,
    asked: () => asked,
    kept: () =>
      Object.fromEntries(
        cluster.nodes.flatMap(({ name, reservations }) =>
          [...reservations.values()].map(({ owner }) => [owner.name, name] as const),
        ),
      ),
    verdictOn: (name) => core.harness.written.findLast((written) => written.name === name)?.verdict.message,
  };
}

/** Nodes a and b of two cores, on each a victim of one core; gang red needs all four cores at priority 10. */
function redNeedsAll(postFilter: PostFilter = nominates, evictor?: Preempts): Preempting {
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

/** As `redNeedsAll`, after the attempt that finds red too little room. */
async function redHasTooLittle(postFilter: PostFilter = nominates, evictor?: Preempts): Promise<Preempting> {
  const preempting = redNeedsAll(postFilter, evictor);
  expect(await preempting.core.attempt()).toBe('rejected');
  return preempting;
}

/** Nobody has to go, no room is kept, and the gang is told why. */
function expectNobodyPreempted({ core, kept, verdictOn }: Preempting, why: string): void {
  expect([core.harness.evicted, kept()]).toEqual([[], {}]);
  expect(core.harness.events.filter((event) => event.startsWith('Preempted'))).toEqual([]);
  expect(verdictOn('red-0')).toMatch(/^PodGroup default\/red cannot start: /);
  expect(verdictOn('red-0')!.endsWith(` Nobody is preempted: ${why}.`)).toBe(true);
  expect(core.harness.warnings).toEqual(['PostFilter asks for what may not be']);
}

describe('a gang for which room can be made', () => {
  it('has all its room kept before the first victim has to go', async () => {
    const keptAtEviction: number[] = [];
    const { core, kept } = redNeedsAll(nominates, {
      evict: () => {
        keptAtEviction.push(Object.keys(kept()).length);
        return Promise.resolve();
      },
    });
    await core.attempt();
    expect(keptAtEviction).toEqual([4, 4]);
    const byNode = Object.entries(kept()).map(([name, node]) => `${node} ${name.split('-')[0]}`);
    expect(byNode.sort()).toEqual(['a red', 'a red', 'b red', 'b red']);
  });

  it('has each victim told once, to the evictor and by an Event, and is told so itself', async () => {
    const { core, verdictOn } = await redHasTooLittle();
    expect(core.harness.evicted).toEqual(['victim-a for PodGroup default/red', 'victim-b for PodGroup default/red']);
    expect(core.harness.events.slice(0, 2)).toEqual(['Preempted victim-a', 'Preempted victim-b']);
    for (const name of ['red-0', 'red-1', 'red-2', 'red-3'])
      expect(verdictOn(name)!.endsWith(` ${message}`)).toBe(true);
    expect(core.harness.written[0]!.verdict).toMatchObject({ reason: 'Unschedulable', waitsFor: 'capacity' });
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    expect(core.harness.warnings).toEqual([]);
  });

  it('loses its room to nobody of equal or lower priority, only to who ranks higher', async () => {
    const { core } = await redHasTooLittle();
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

  it('is bound whole once the victims are gone, and nobody slips in meanwhile', async () => {
    const { core, kept } = await redHasTooLittle();
    core.pod({ name: 'rival', cpu: 1, priority: 10 });
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
    expect([kept(), core.states()]).toEqual([{}, { 'pod/rival': 'unschedulable' }]);
  });

  it('is not bound in part while a victim takes its time', async () => {
    const { core } = await redHasTooLittle();
    core.change('victim-a', { deleting: true });
    core.removePod('victim-b');
    expect(await core.attempt()).toBe('rejected');
    expect([core.binds, core.harness.cluster.assumedCount]).toEqual([[], 0]);
  });

  it('goes to other nodes if they come first, and its room is free when it is there', async () => {
    const { core, kept } = await redHasTooLittle();
    core.node({ name: 'c', cpu: 4 });
    expect(await core.attempt()).toBe('planned');
    for (const { binding } of [...core.binds]) {
      await core.accept(binding.name);
      core.change(binding.name, { nodeName: binding.nodeName });
    }
    expect(kept()).toEqual({});
    core.pod({ name: 'next', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
  });

  it('may be a lone pod', async () => {
    const { core, kept } = open(nominates);
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'victim', cpu: 1, nodeName: 'a', labels: { victim: 'yes' } });
    core.pod({ name: 'x', cpu: 2, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    expect([core.harness.evicted, kept()]).toEqual([['victim for pod default/x'], { x: 'a' }]);
    core.removePod('victim');
    expect(await core.attempt()).toBe('planned');
  });

  it('needs only the members that are missing', async () => {
    const { core, kept } = open(nominates);
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'victim', cpu: 1, nodeName: 'a', labels: { victim: 'yes' } });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'bound', group: 'red', cpu: 1, priority: 10, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    expect(Object.values(kept())).toEqual(['a']);
    core.removePod('victim');
    expect(await core.attempt()).toBe('planned');
    expect(core.binds).toHaveLength(1);
  });
});

describe('while room is kept for an entity', () => {
  it('PostFilter is not asked again, nobody else has to go, and the entity is told the same', async () => {
    const { core, asked, verdictOn } = await redHasTooLittle();
    const reported = verdictOn('red-0');
    core.removePod('victim-a');
    expect(await core.attempt()).toBe('rejected');
    expect(asked()).toBe(1);
    expect(core.harness.evicted).toHaveLength(2);
    core.harness.clock.advance(60_000);
    expect(verdictOn('red-0')).not.toBe(reported);
    expect(verdictOn('red-0')!.endsWith(` ${message}`)).toBe(true);
  });

  it('PostFilter is asked about others', async () => {
    const { core, asked } = await redHasTooLittle();
    core.pod({ name: 'x', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    expect(asked()).toBe(2);
  });

  it('a minute may pass; then the room is free, and whoever waits for it hears of it', async () => {
    const { core, kept } = await redHasTooLittle();
    core.pod({ name: 'x', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    core.harness.clock.advance(60 * second - 1);
    expect([Object.keys(kept()).length, core.states()['pod/x']]).toEqual([4, 'unschedulable']);
    core.harness.clock.advance(1);
    expect([kept(), core.states()['pod/x']]).toEqual([{}, 'active']);
  });

  it('a minute may pass; then PostFilter is asked again, and keeps the room for another minute', async () => {
    const { core, asked, kept } = await redHasTooLittle();
    core.harness.clock.advance(60 * second);
    expect(core.states()).toEqual({ 'gang/default/red': 'active' });
    expect(await core.attempt()).toBe('rejected');
    expect([asked(), Object.keys(kept()).length, core.harness.evicted.length]).toEqual([2, 4, 4]);
    core.harness.clock.advance(60 * second - 1);
    expect(Object.keys(kept())).toHaveLength(4);
    core.harness.clock.advance(1);
    expect(kept()).toEqual({});
  });

  it('a minute means nothing once it is bound', async () => {
    const { core, kept } = await redHasTooLittle();
    core.removePod('victim-a');
    core.removePod('victim-b');
    expect(await core.attempt()).toBe('planned');
    for (const { binding } of [...core.binds]) {
      await core.accept(binding.name);
      core.change(binding.name, { nodeName: binding.nodeName });
    }
    core.pod({ name: 'x', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    core.harness.clock.advance(60 * second);
    expect([kept(), core.states()]).toEqual([{}, { 'pod/x': 'unschedulable' }]);
  });
});

it('one that runs for a former group of its name has to go alone, whatever the quorum of the present one', async () => {
  const { core } = redNeedsAll();
  const former = { group: 'blue', cpu: 1, annotations: { [planAnnotations.groupUid]: 'first' } };
  core.group({ name: 'blue', uid: 'second', minMember: 2 });
  core.pod({ ...former, name: 'victim-a', nodeName: 'a', labels: { victim: 'yes' } });
  core.pod({ ...former, name: 'other', nodeName: 'gone' });
  expect(await core.attempt()).toBe('rejected');
  expect(core.harness.evicted).toEqual(['victim-a for PodGroup default/red', 'victim-b for PodGroup default/red']);
});

describe('nobody has to go', () => {
  it('for too few nominated members', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan.slice(1), victims };
    });
    expectNobodyPreempted(preempting, '3 of the 4 members that are needed are nominated');
  });

  it('for one member nominated again and again', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      const [first] = handle.dryRun(schedulingEntity, { without: victims }).plan;
      return { message, nominations: Array.from({ length: 4 }, () => first!), victims };
    });
    expectNobodyPreempted(preempting, '1 of the 4 members that are needed are nominated');
  });

  it('where their going does not help', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan, victims: victims.slice(1) };
    });
    expectNobodyPreempted(preempting, 'it would not fit on the nominated nodes without the victims (Insufficient cpu)');
  });

  it('where it would help only on nodes that are not nominated', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan.map(({ pod }) => ({ pod, nodeName: 'a' })), victims };
    });
    expectNobodyPreempted(preempting, 'it would not fit on the nominated nodes without the victims (Insufficient cpu)');
  });

  it('on nodes that are not there', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan.map(({ pod }) => ({ pod, nodeName: 'gone' })), victims };
    });
    expectNobodyPreempted(
      preempting,
      'it would not fit on the nominated nodes without the victims (node gone not found)',
    );
  });

  it('for itself', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      const { plan } = handle.dryRun(schedulingEntity, { without: victims });
      return { message, nominations: plan, victims: [...victims, plan[0]!.pod] };
    });
    expectNobodyPreempted(preempting, 'default/red-0 would have to go for its own group');
  });

  it('for itself, not even one that runs', async () => {
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
    expectNobodyPreempted(preempting, 'default/red-bound would have to go for its own group');
  });

  it('without room being kept for somebody', async () => {
    const preempting = await redHasTooLittle((_candidate, _handle, victims) => ({ message, victims }));
    expectNobodyPreempted(preempting, '0 of the 4 members that are needed are nominated');
  });

  it('where nobody is named, and no room is kept where nothing is made free', async () => {
    const preempting = await redHasTooLittle((schedulingEntity, handle, victims) => {
      return { message, nominations: handle.dryRun(schedulingEntity, { without: victims }).plan };
    });
    expectNobodyPreempted(preempting, 'it would not fit on the nominated nodes without the victims (Insufficient cpu)');
  });

  it('where PostFilter only has something to say, or nothing; then it is asked at each attempt', async () => {
    const said = await redHasTooLittle(() => ({ message: 'Nothing can be preempted.' }));
    expect(said.verdictOn('red-0')!.endsWith(' Nothing can be preempted.')).toBe(true);
    const silent = await redHasTooLittle(() => undefined);
    expect(silent.verdictOn('red-0')!.endsWith('Insufficient cpu.')).toBe(true);
    for (const { core, asked, kept } of [said, silent]) {
      core.removePod('victim-a');
      expect(await core.attempt()).toBe('rejected');
      expect([asked(), core.harness.evicted, kept(), core.harness.warnings]).toEqual([2, [], {}, []]);
    }
  });

  it('because a plugin throws, which the verdict names', async () => {
    const { core, kept, verdictOn } = await redHasTooLittle(() => {
      throw new Error('a bug');
    });
    expect(verdictOn('red-0')).toContain('Preempting failed in PostFilter: a bug');
    expect([core.harness.evicted, kept()]).toEqual([[], {}]);
    expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    core.node({ name: 'c', cpu: 4 });
    expect(await core.attempt()).toBe('planned');
  });

  it('for a gang that fits, about which PostFilter is not asked', async () => {
    const { core, asked } = open(nominates);
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    expect(asked()).toBe(0);
  });
});

describe('an eviction that is rejected', () => {
  /** Refuses to evict victim-a. */
  function stubborn(): { evictor: Preempts; reported: string[] } {
    const reported: string[] = [];
    const evict: PodEvictor['evict'] = ({ name }) => {
      reported.push(name);
      return name === 'victim-a' ? Promise.reject(new Error('forbidden')) : Promise.resolve();
    };
    return { evictor: { evict }, reported };
  }

  it('is logged, and the other victims go all the same', async () => {
    const { evictor, reported } = stubborn();
    const { core, kept } = await redHasTooLittle(nominates, evictor);
    expect(reported).toEqual(['victim-a', 'victim-b']);
    expect(core.harness.warnings).toEqual(['could not evict a pod']);
    expect(Object.keys(kept())).toHaveLength(4);
  });

  it('breaks nothing: the gang starts when the victim goes for another reason', async () => {
    const { core } = await redHasTooLittle(nominates, stubborn().evictor);
    core.removePod('victim-b');
    core.change('victim-a', { phase: 'Succeeded' });
    expect(await core.attempt()).toBe('planned');
    expect(core.binds).toHaveLength(4);
  });

  it('keeps nobody waiting for more than a minute', async () => {
    const { core } = await redHasTooLittle(nominates, stubborn().evictor);
    core.removePod('victim-b');
    core.pod({ name: 'x', cpu: 1 });
    while ((await core.attempt()) !== undefined);
    expect(core.binds).toEqual([]);
    // One member less, so that red does not come first when the minute is over.
    core.removePod('red-0');
    core.harness.clock.advance(60 * second);
    expect(await core.attempt()).toBe('planned');
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['x']);
  });

  it('because the scheduler stops is not worth a word', async () => {
    const signals: AbortSignal[] = [];
    const { core } = await redHasTooLittle(nominates, {
      evict: (_pod, _beneficiary, signal) =>
        new Promise((_resolve, reject) => {
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
