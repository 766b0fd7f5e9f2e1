/**
 * Measures how long gangs stay partially bound when Bindings fail. There are more gangs than fit, and a proxy between the scheduler and the
 * API server makes a share of the Bindings fail, in turn by each kind of failure. Partial-gang seconds are the sum over gangs of the time in
 * which the API shows a partially bound gang. Uses a real kube-apiserver, which the first run builds, or the embedded plane with
 * `--plane embedded`.
 *
 *     node bench/spoiled-bindings.ts --percent 10 --percent 30 --rounds 5 --seed 1
 */
import { loadavg } from 'node:os';
import process from 'node:process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from '../src/cli/flag-values.ts';
import type { TestProcess } from '../src/cli/testing/test-process.ts';
import { partialSeconds } from '../test/expect/partial-periods.ts';
import type { ApiProxy } from '../test/planes/api-proxy.ts';
import { spoilings } from '../test/planes/binding-spoiler.ts';
import type { Spoiling } from '../test/planes/binding-spoiler.ts';
import { openEmbeddedPlane } from '../test/planes/embedded.ts';
import type { TestPlane } from '../test/planes/plane.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';
import type { RealPlane } from '../test/planes/real/real-plane.ts';
import { onStage } from '../test/real/on-stage.ts';
import { nodesFor, playSpoiledGangs } from '../test/scenarios/spoiled-gangs.ts';
import type { SpoiledGangs, SpoiledGangsOptions } from '../test/scenarios/spoiled-gangs.ts';
import { Stage } from '../test/scenarios/stage.ts';
import { median } from './peers/figures.ts';

interface Flags {
  readonly percent?: readonly number[];
  readonly rounds: number;
  readonly seed: number;
  readonly seconds: number;
  readonly gangs: number;
  readonly fit: number;
  readonly size: number;
  readonly slowMs: number;
  readonly kind?: readonly Spoiling[];
  readonly plane: 'real' | 'embedded';
  readonly periods: boolean;
}

const collect = <T>(read: (text: string) => T) => {
  return (text: string, before: readonly T[] = []): readonly T[] => [...before, read(text)];
};

function spoiling(text: string): Spoiling {
  const found = spoilings.find((kind) => kind === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`It must be one of ${spoilings.join(', ')}.`);
}

const kinds = spoilings.filter((kind) => kind !== 'slow-answer');
const flags = new Command('spoiled-bindings')
  .description('Measure partial-gang seconds while a proxy makes a share of the Bindings fail.')
  .option(
    '--percent <share>',
    'Percentage of Bindings that fail. Can be repeated. (default: 10 and 30)',
    collect(wholeNumber(0, 100)),
  )
  .option('--rounds <count>', 'Rounds for each percentage.', wholeNumber(1), 5)
  .option('--seed <number>', 'Seed of the first round. It increases by one for each round.', wholeNumber(0), 1)
  .option('--seconds <seconds>', 'Duration of each round.', wholeNumber(1), 60)
  .option('--gangs <count>', 'Number of gangs.', wholeNumber(1), 12)
  .option('--fit <count>', 'Number of gangs that fit.', wholeNumber(1), 8)
  .option('--size <members>', 'Members of each gang.', wholeNumber(2), 20)
  .option('--slow-ms <milliseconds>', 'Delay of a slow Binding.', wholeNumber(1), 8_000)
  .option(
    '--kind <kind>',
    `Kinds of failure, used in turn. Can be repeated. (default: ${kinds.join(', ')})`,
    collect(spoiling),
  )
  .addOption(new Option('--plane <plane>', 'API server to use.').choices(['real', 'embedded']).default('real'))
  .option('--periods', 'Print when each gang was partially bound, and which Bindings were hedged.', false)
  .parse()
  .opts<Flags>();

/** Log message of the scheduler when it hedges a Binding. */
const hedging = 'a binding is much slower than others: reading the pod back and sending the binding again';

const plane = await openPlane();
try {
  for (const percent of flags.percent ?? [10, 30]) {
    const runs: SpoiledGangs[] = [];
    for (let round = 0; round < flags.rounds; round++) {
      const run = await play({ ...flags, percent, seed: flags.seed + round, kinds: flags.kind ?? kinds });
      runs.push(run);
      printRun(`${percent} %, seed ${flags.seed + round}`, run);
    }
    summarize(percent, runs);
  }
} finally {
  await plane.stop();
}

async function openPlane(): Promise<TestPlane | RealPlane> {
  if (flags.plane === 'embedded') return openEmbeddedPlane();
  const programs = await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true });
  if (programs.state === 'ready') return openRealPlane({ paths: programs.paths });
  console.error(programs.message);
  process.exit(3);
}

/** Throws if a node was overcommitted or a process failed. */
async function play(options: SpoiledGangsOptions): Promise<SpoiledGangs> {
  let run: SpoiledGangs | undefined;
  if (isReal(plane)) {
    await onStage(
      plane,
      async ({ stage, tutti, addNodes }) => {
        stage.partialForMs = Infinity;
        await addNodes(...nodesFor(options));
        let scheduler: TestProcess | undefined;
        const startScheduler = async (through: ApiProxy): Promise<void> => {
          scheduler = await tutti.startScheduler({ through });
        };
        run = await playSpoiledGangs({ stage, startScheduler }, options);
        if (flags.periods) printHedges(scheduler!.stderr.split('\n').filter((line) => line.includes(hedging)));
      },
      { tolerates: /members bound$/ },
    );
    return run!;
  }
  const stage = await Stage.open(plane);
  try {
    stage.partialForMs = Infinity;
    await stage.addNodes(...nodesFor(options));
    run = await playSpoiledGangs({ stage, startScheduler: (through) => stage.startScheduler({ through }) }, options);
    if (flags.periods) {
      const lines = stage.logs.lines.filter(({ message }) => message === hedging);
      printHedges(lines.map(({ fields }) => JSON.stringify(fields)));
    }
    const problems = stage.problems().filter((problem) => !problem.endsWith('members bound'));
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return run;
  } finally {
    await stage.close();
  }
}

function printHedges(lines: readonly string[]): void {
  for (const line of lines) console.log(`  hedged: ${line}`);
}

function isReal(opened: TestPlane | RealPlane): opened is RealPlane {
  return 'folder' in opened;
}

function printRun(what: string, run: SpoiledGangs): void {
  const { whole, partial, periods, sent, spoiled, secondsToWhole } = run;
  const longest = Math.max(0, ...periods.map(({ from, to }) => to - from)) / 1000;
  console.log(
    `${what}: ${whole} of ${flags.fit} whole${secondsToWhole === undefined ? '' : ` after ${secondsToWhole.toFixed(1)} s`}, ` +
      `${partial} partial at the end, ${partialSeconds(periods).toFixed(2)} partial-gang seconds (longest ${longest.toFixed(2)} s), ` +
      `${sent} Bindings sent, ${spoiled} spoiled, load ${loadavg()[0]!.toFixed(0)}`,
  );
  if (!flags.periods) return;
  const begunAt = Math.min(...periods.map(({ from }) => from));
  for (const { group, from, to, most } of periods) {
    console.log(`  ${group}: from ${seconds(from - begunAt)} for ${seconds(to - from)}, up to ${most} on nodes`);
  }
}

function summarize(percent: number, runs: readonly SpoiledGangs[]): void {
  const figures = runs.map(({ periods }) => partialSeconds(periods));
  const whole = runs.map((run) => run.whole);
  console.log(
    `${percent} % spoiled, ${runs.length} rounds: whole ${Math.min(...whole)} to ${Math.max(...whole)} of ${flags.fit}, partial-gang seconds ` +
      `median ${median(figures).toFixed(2)}, from ${Math.min(...figures).toFixed(2)} to ${Math.max(...figures).toFixed(2)}`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
