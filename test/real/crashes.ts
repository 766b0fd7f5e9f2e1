import { expectBound, expectCountBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { onStage } from './on-stage.ts';
import type { Setting } from './on-stage.ts';

const size = 4;

export interface CrashOptions {
  /** How many of the gang's Bindings the API server carries out. */
  readonly bound: number;
  /** Whether the scheduler still hears so. */
  readonly isAnswered: boolean;
}

/** The scheduler is killed in the middle of a gang; the next one finishes what it finds. */
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

/** The same, but the room has gone meanwhile: the group says so, on whom it concerns, and is whole once there is room. */
export function killedAndRoomLost(plane: RealPlane, options: CrashOptions): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti } = setting;
    await tutti.startController();
    const gang = await killInMidGang(setting, options);
    const left = gang.filter((key) => nodeOf(stage.record, key) === undefined);
    // Where a member runs already, this takes what is beside it.
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

const nodes = ['one', 'two', 'three', 'four'];

/** Room for the gang alone, one member a node. Answers the members, of which exactly as many as asked are bound. */
async function killInMidGang(setting: Setting, { bound, isAnswered }: CrashOptions): Promise<string[]> {
  const { stage, tutti, addNodes } = setting;
  // Between the death of one scheduler and the first cycle of the next.
  stage.partialForMs = 15_000;
  await addNodes(...nodes.map((name) => ({ name, allocatable: { cpu: '1' } })));
  const proxy = await stage.openProxy();
  const stuck = stopAfter(proxy, bound, isAnswered);
  const scheduler = await tutti.startScheduler({ through: proxy });
  await stage.createGroup('gang', { minMember: size });
  const gang = await stage.createPods('gang', size, { group: 'gang', cpu: 1 });
  await stuck;
  await expectCountBound(stage.record, gang, bound);
  await tutti.kill(scheduler);
  return gang;
}

/** Lets so many Bindings through and none after them; resolves when all of the gang's have been asked for. */
function stopAfter(proxy: ApiProxy, bound: number, isAnswered: boolean): Promise<void> {
  return new Promise((resolve) => {
    let count = 0;
    proxy.fault = async ({ method, path }, forward) => {
      if (method !== 'POST' || !path.endsWith('/binding')) return undefined;
      const binding = ++count;
      if (binding === size) resolve();
      const answer = binding <= bound ? await forward() : undefined;
      return isAnswered && answer !== undefined ? answer : new Promise(() => undefined);
    };
  });
}
