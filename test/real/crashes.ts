import { expect } from 'vitest';
import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { atOnce } from './at-once.ts';
import { onStage } from './on-stage.ts';
import type { Setting } from './on-stage.ts';
import { hangsMs } from '../planes/patience.ts';

const size = 4;

export interface CrashOptions {
  /** How many of the gang's Bindings the API server carries out. */
  readonly bound: number;
  /** Whether the scheduler still receives the responses. */
  readonly isAnswered: boolean;
}

/** The scheduler is killed while it binds a gang; the next one completes the gang. */
export function killedInMidGang(plane: RealPlane, options: CrashOptions): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti } = setting;
    const gang = await killInMidGang(setting, options);
    expectNeverBound(
      stage.record,
      gang.filter((key) => nodeOf(stage.record, key) === undefined),
    );
    await tutti.startScheduler();
    await expectBound(stage.record, gang);
  });
}

/**
 * The same, but the capacity is taken in between: the verdict of the waiting members says so, and the gang is complete once there is
 * capacity again.
 */
export function killedAndCapacityLost(plane: RealPlane, options: CrashOptions): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti } = setting;
    await tutti.startController();
    const gang = await killInMidGang(setting, options);
    const left = gang.filter((key) => nodeOf(stage.record, key) === undefined);
    // These pods fill the nodes without a member.
    const taken = new Set(gang.map((key) => nodeOf(stage.record, key)));
    const free = nodes.filter((name) => !taken.has(name));
    const blockers: string[] = [];
    for (const name of free) blockers.push(await stage.createPod(`blocker-${name}`, { cpu: 1, nodeName: name }));
    await tutti.startScheduler();
    await expectVerdict(stage.record, left, { reason: 'Unschedulable', says: ['Insufficient cpu'] });
    await expectPhase(stage.record, `${stage.namespace}/gang`, 'Scheduling', { scheduled: options.bound });
    expectNeverBound(stage.record, left);
    for (const blocker of blockers) await stage.deletePod(blocker);
    await expectBound(stage.record, gang);
  });
}

/**
 * The scheduler is killed when every second member of eight gangs is bound. There is capacity for eight gangs; eight more wait, and one of
 * higher priority arrives. In the end, the eight started gangs are complete, and the others have not started.
 */
export function killedAmongManyGangs(plane: RealPlane): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti, addNodes } = setting;
    const { record, namespace } = stage;
    stage.partialForMs = hangsMs;
    await addNodes(...range(8).map((index) => ({ name: `many-${index}`, allocatable: { cpu: '5' } })));
    const proxy = await stage.openProxy();
    const stuck = stopBindings(proxy, { of: 40, passes: (binding) => binding % 2 === 0, isAnswered: true });
    const scheduler = await tutti.startScheduler({ through: proxy });
    const gangs = range(16).map((index) => `gang-${index}`);
    for (const gang of gangs) await stage.createGroup(gang, { minMember: 5 });
    const members = gangs.flatMap((gang) => range(5).map((index) => `${gang}-${index}`));
    await atOnce(members, (name) => stage.createPod(name, { group: groupOf(name), cpu: 1 }));
    const keys = members.map((name) => `${namespace}/${name}`);
    await stuck;
    await expectCountBound(record, keys, 20);
    await tutti.kill(scheduler);

    const begun = new Set(keys.filter((key) => nodeOf(record, key) !== undefined).map(groupOf));
    expect([...begun]).toHaveLength(8);
    await stage.createGroup('rival', { minMember: 5 });
    const rivals = await stage.createPods('rival', 5, { group: 'rival', cpu: 1 });
    await tutti.startScheduler();
    await expectBound(
      record,
      keys.filter((key) => begun.has(groupOf(key))),
    );
    const others = [...keys.filter((key) => !begun.has(groupOf(key))), ...rivals];
    await expectVerdict(record, others, { reason: 'Unschedulable', says: ['Insufficient cpu'] });
    expectNeverBound(record, others);
  });
}

function groupOf(member: string): string {
  return member.slice(0, member.lastIndexOf('-'));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

const nodes = ['one', 'two', 'three', 'four'];

/** Creates capacity for exactly the gang, one member per node. Returns the members, of which the requested number is bound. */
async function killInMidGang(setting: Setting, { bound, isAnswered }: CrashOptions): Promise<string[]> {
  const { stage, tutti, addNodes } = setting;
  // Covers the time between the death of one scheduler and the first cycle of the next.
  stage.partialForMs = hangsMs;
  await addNodes(...nodes.map((name) => ({ name, allocatable: { cpu: '1' } })));
  const proxy = await stage.openProxy();
  const stuck = stopBindings(proxy, { of: size, passes: (binding) => binding <= bound, isAnswered });
  const scheduler = await tutti.startScheduler({ through: proxy });
  await stage.createGroup('gang', { minMember: size });
  const gang = await stage.createPods('gang', size, { group: 'gang', cpu: 1 });
  await stuck;
  await expectCountBound(stage.record, gang, bound);
  await tutti.kill(scheduler);
  return gang;
}

export interface StopOptions {
  /** Total number of pods for which a Binding is sent. */
  readonly of: number;
  /** Selects, by a number from 1, the pods whose Binding the API server carries out. */
  readonly passes: (binding: number) => boolean;
  readonly isAnswered: boolean;
}

/** Lets the Bindings of some pods through and leaves the others without a response; resolves when all have been sent. */
export function stopBindings(proxy: ApiProxy, { of, passes, isAnswered }: StopOptions): Promise<void> {
  return new Promise((resolve) => {
    /** In the order of their first Binding: a Binding without a response is repeated. */
    const pods = new Set<string>();
    proxy.fault = async ({ method, path }, forward) => {
      if (method !== 'POST' || !path.endsWith('/binding')) return undefined;
      pods.add(path);
      if (pods.size === of) resolve();
      const answer = passes([...pods].indexOf(path) + 1) ? await forward() : undefined;
      return isAnswered && answer !== undefined ? answer : new Promise(() => undefined);
    };
  });
}
