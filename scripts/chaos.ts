// Repeatedly kills the scheduler on a real API server under a load of gangs, then changes leaders. Reports partially bound gangs,
// overcommitted nodes and pods that were bound twice: `npm run chaos -- --kills 200 --leader-changes 50`. Exits with 1 if there were any.
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
  .description('Kill schedulers and change leaders under a load of gangs on a real API server, and check the result.')
  .option('--kills <count>', 'Number of times to kill the scheduler.', wholeNumber(0), 200)
  .option('--leader-changes <count>', 'Number of leader changes among three replicas.', wholeNumber(0), 50)
  .option('--seed <number>', 'Seed of the random times.', wholeNumber(0), 1)
  .option(
    '--bound <duration>',
    'How long a group may stay partially bound while a scheduler is running.',
    duration,
    5_000,
  )
  .option('--hold <duration>', 'How long another scheduler keeps the capacity that it takes.', duration, 2_000)
  .option(
    '--group-spec <json>',
    'Fields to merge into the spec of each PodGroup, such as a policy.',
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
if (kills > 0) report('one scheduler, killed', await on((plane) => killedAgainAndAgain(plane, kills, options)));
if (leaderChanges > 0) {
  const times = { lease: 4, renew: 2.5, retry: 0.5 };
  report('three replicas', await on((plane) => leadersChange(plane, leaderChanges, times, options)));
}
console.log(problems.length === 0 ? 'no violation' : `${problems.length} violations; repeat with --seed ${seed}`);
process.exit(problems.length === 0 ? 0 : 1);

function report(title: string, result: ChaosResult): void {
  problems.push(...result.problems);
  const at = (share: number): string => {
    const { partialMs } = result;
    return partialMs.length === 0 ? '-' : `${Math.round(partialMs[Math.floor(share * (partialMs.length - 1))]!)} ms`;
  };
  console.log(`\n${title}, seed ${seed}, ${Math.round(result.seconds)} s`);
  console.table({
    killed: result.changes.kill,
    terminated: result.changes.terminate,
    frozen: result.changes.freeze,
    'of these while binding a gang': result.inMidGang,
    'groups partially bound then': result.partialGroups,
    'capacity taken by another scheduler': result.capacityTaken,
    'of this from partially bound groups': result.capacityOfPartialTaken,
    'groups completed': result.wholeGroups,
    'pods bound (watch)': result.boundPods,
    'Bindings with status 201 (audit log)': result.carriedOutBindings,
    'time partially bound, median': at(0.5),
    'time partially bound, 99th percentile': at(0.99),
    'time partially bound, maximum': at(1),
    [`partially bound for more than ${boundMs} ms, overcommitted, bound twice, mixed writes, faults`]:
      result.problems.length,
  });
  for (const problem of result.problems) console.error(problem);
}
