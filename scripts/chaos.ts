// Kills the scheduler again and again on a real API server under a load of gangs, then changes leaders, and says what that has
// left in part, over-committed or bound twice: `npm run chaos -- --kills 200 --leader-changes 50`. Exit code 1: something was.
import process from 'node:process';
import { Command } from 'commander';
import { duration, wholeNumber } from '../src/cli/flag-values.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';
import type { RealPlane } from '../test/planes/real/real-plane.ts';
import { killedAgainAndAgain, leadersChange } from '../test/real/chaos/chaos.ts';
import type { ChaosOptions, ChaosResult } from '../test/real/chaos/chaos.ts';

interface Flags {
  readonly kills: number;
  readonly leaderChanges: number;
  readonly seed: number;
  readonly bound: number;
  readonly hold: number;
  readonly groupSpec: object;
}

const flags = new Command('chaos')
  .description(
    'Kills schedulers and changes leaders under a load of gangs on a real API server, and judges what is left.',
  )
  .option('--kills <count>', 'times that the scheduler is killed', wholeNumber(0), 200)
  .option('--leader-changes <count>', 'times that another of three replicas leads', wholeNumber(0), 50)
  .option('--seed <number>', 'of the random moments', wholeNumber(0), 1)
  .option('--bound <duration>', 'how long a group may be in part on nodes while somebody schedules', duration, 5_000)
  .option('--hold <duration>', 'how long another scheduler keeps the room that it takes', duration, 2_000)
  .option(
    '--group-spec <json>',
    'merged into the spec of each PodGroup, such as a policy',
    (text) => JSON.parse(text) as object,
    {},
  )
  .parse()
  .opts<Flags>();

const programs = await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true });
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(3);
}
const { paths } = programs;
const { kills, leaderChanges, seed, bound: boundMs, hold: holdMs, groupSpec } = flags;
const options: ChaosOptions = { seed, boundMs, holdMs, groupSpec, say: (line) => console.log(line) };

async function on(play: (plane: RealPlane) => Promise<ChaosResult>): Promise<ChaosResult> {
  const plane = await openRealPlane({ paths, audited: true });
  try {
    return await play(plane);
  } finally {
    await plane.stop();
  }
}

const problems: string[] = [];
if (kills > 0) tell('one scheduler, killed', await on((plane) => killedAgainAndAgain(plane, kills, options)));
if (leaderChanges > 0) {
  const times = { lease: 4, renew: 2.5, retry: 0.5 };
  tell('three replicas', await on((plane) => leadersChange(plane, leaderChanges, times, options)));
}
console.log(
  problems.length === 0 ? 'no violation' : `${problems.length} violations; --seed ${seed} tries the same moments`,
);
process.exit(problems.length === 0 ? 0 : 1);

function tell(title: string, result: ChaosResult): void {
  problems.push(...result.problems);
  const at = (share: number): string => {
    const { partialMs } = result;
    return partialMs.length === 0 ? '-' : `${Math.round(partialMs[Math.floor(share * (partialMs.length - 1))]!)} ms`;
  };
  console.log(`\n${title}, seed ${seed}, ${Math.round(result.seconds)} s`);
  console.table({
    killed: result.changes.kill,
    'told to end': result.changes.terminate,
    frozen: result.changes.freeze,
    'of these in the middle of a gang': result.inMidGang,
    'groups in part then': result.partialGroups,
    'room taken by another meanwhile': result.capacityTaken,
    'of these from groups in part': result.capacityOfPartialTaken,
    'groups that became whole': result.wholeGroups,
    'pods bound, as watched': result.boundPods,
    'Bindings answered 201, as audited': result.carriedOutBindings,
    'time in part, half of the groups': at(0.5),
    'time in part, 99 %': at(0.99),
    'time in part, longest': at(1),
    [`in part for more than ${boundMs} ms, over-committed, bound twice, mixed writes, faults`]: result.problems.length,
  });
  for (const problem of result.problems) console.error(problem);
}
