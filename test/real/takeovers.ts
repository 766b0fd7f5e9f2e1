import { expect } from 'vitest';
import type { TestProcess } from '../../src/cli/testing/test-process.ts';
import { expectBound, expectCountBound } from '../expect/expect-bound.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { stopBindings } from './crashes.ts';
import { onStage } from './on-stage.ts';
import type { Setting } from './on-stage.ts';
import { report } from './report.ts';
import { hangsMs } from '../planes/patience.ts';

/** Durations of leader election, in seconds. */
export interface ElectionTimes {
  readonly lease: number;
  readonly renew: number;
  readonly retry: number;
}

const size = 4;

/**
 * Three replicas. The leader is killed when half of a gang is bound: a standby completes the gang as soon as the Lease has expired. That
 * standby is terminated while gangs arrive: it leaves none partially bound, and the last replica takes over at once.
 */
export function leaderKilledAndLeaderEnded(plane: RealPlane, { lease, renew, retry }: ElectionTimes): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti } = setting;
    const { record } = stage;
    stage.partialForMs = lease * 1_000 + hangsMs;
    const election = electionFlags(setting, { lease, renew, retry });
    const { first, standbys, gang } = await stuckInMidGang(setting, election, 2);

    const killedAt = performance.now();
    await tutti.kill(first);
    const second = await currentLeader(standbys);
    const ledMs = performance.now() - killedAt;
    await second.said(/"message":"scheduling"/);
    const scheduledMs = performance.now() - killedAt;
    await expectBound(record, gang);
    const wholeMs = performance.now() - killedAt;
    report(
      `leader killed, lease of ${lease} s: the next one was elected after ${inSeconds(ledMs)}, scheduled after ${inSeconds(scheduledMs)}, ` +
        `and the gang was complete after ${inSeconds(wholeMs)}`,
    );
    // This lower bound must hold: no other replica may lead before the Lease has expired.
    expect(ledMs).toBeGreaterThan(renew * 1_000);

    const third = standbys.find((standby) => standby !== second)!;
    const coming = createGangs(stage, 20);
    await second.said(/"message":"scheduling"/);
    const endedAt = performance.now();
    const ended = tutti.terminate(second);
    await third.said(/"message":"scheduling"/);
    const afterSignalMs = performance.now() - endedAt;
    expect(await ended).toContain('"message":"released the Lease"');
    await expectBound(record, await coming);
    report(`leader ended by SIGTERM: the next one scheduled ${inSeconds(afterSignalMs)} after the signal`);
  });
}

/**
 * The leader is frozen when half of a gang is bound, as when a machine swaps or migrates. The standby completes that gang and others. The
 * old leader then resumes, writes nothing more, and logs why it ends.
 */
export function leaderFrozen(plane: RealPlane, times: ElectionTimes): Promise<void> {
  return onStage(plane, async (setting) => {
    const { stage, tutti } = setting;
    stage.partialForMs = times.lease * 1_000 + hangsMs;
    const election = electionFlags(setting, times);
    const { first, standbys, gang, proxy } = await stuckInMidGang(setting, election, 1);
    first.signal('SIGSTOP');
    await standbys[0]!.said(/"message":"scheduling"/);
    await expectBound(stage.record, gang);
    await expectBound(stage.record, await createGangs(stage, 5));
    const writes: string[] = [];
    proxy.fault = ({ method, path }) => {
      if (method !== 'GET') writes.push(`${method} ${path}`);
      return Promise.resolve(undefined);
    };
    first.signal('SIGCONT');
    expect(await tutti.gaveUp(first)).toContain('"message":"lost the leader election"');
    expect(writes.filter((write) => !write.includes('/leases/'))).toEqual([]);
  });
}

/** Returns the flags of replicas that elect a leader with a Lease of the stage. */
export function electionFlags({ stage }: Setting, { lease, renew, retry }: ElectionTimes): string[] {
  return [
    `--leader-elect-lease-duration=${lease}s`,
    `--leader-elect-renew-deadline=${renew}s`,
    `--leader-elect-retry-period=${retry}s`,
    `--leader-elect-resource-name=${stage.namespace}`,
  ];
}

interface StuckLeader {
  readonly first: TestProcess;
  readonly standbys: readonly TestProcess[];
  /** Two of them are bound. */
  readonly gang: readonly string[];
  /** The proxy between the leader and the server. */
  readonly proxy: ApiProxy;
}

/** Returns a leader whose Bindings of the second half of a gang get no response, and standbys. */
async function stuckInMidGang(
  { stage, tutti, addNodes }: Setting,
  election: readonly string[],
  standbyCount: number,
): Promise<StuckLeader> {
  await addNodes(...['one', 'two', 'three', 'four'].map((name) => ({ name, allocatable: { cpu: '64' } })));
  const proxy = await stage.openProxy();
  const stuck = stopBindings(proxy, { of: size, passes: (binding) => binding <= 2, isAnswered: true });
  const first = await tutti.startScheduler({ through: proxy, election });
  const standbys: TestProcess[] = [];
  while (standbys.length < standbyCount) standbys.push(await tutti.startStandby({ election }));
  await stage.createGroup('stuck', { minMember: size });
  const gang = await stage.createPods('stuck', size, { group: 'stuck', cpu: 1 });
  await stuck;
  await expectCountBound(stage.record, gang, 2);
  return { first, standbys, gang, proxy };
}

/** Creates gangs one after another, as fast as the server accepts them. */
async function createGangs(stage: Setting['stage'], count: number): Promise<string[]> {
  const members: string[] = [];
  for (let index = 0; index < count; index++) {
    await stage.createGroup(`gang-${index}`, { minMember: size });
    members.push(...(await stage.createPods(`gang-${index}`, size, { group: `gang-${index}`, cpu: 1 })));
  }
  return members;
}

function currentLeader(processes: readonly TestProcess[]): Promise<TestProcess> {
  return Promise.race(
    processes.map(async (process) => {
      await process.said(/"message":"became leader"/);
      return process;
    }),
  );
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
