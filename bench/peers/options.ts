import { parseArgs } from 'node:util';
import type { ContenderName } from './contenders/contender.ts';

export interface BenchOptions {
  readonly quick: boolean;
  readonly rounds: number;
  readonly nodes: readonly number[];
  /** Of the order in which things run. */
  readonly seed: number;
  /** Only runs whose `scheduler/workload` it matches. */
  readonly only: RegExp;
  /** Take CPU profiles of Tutti. */
  readonly profile: boolean;
  /** Put the results into bench/results and docs/performance.md. */
  readonly record: boolean;
  /** Run nothing: take the results of an earlier execution from this file. */
  readonly from?: string;
  /** The built command line of Tutti that is measured. */
  readonly cli: string;
  /** Print what would run, and run nothing. */
  readonly list: boolean;
}

export const usage = `npm run bench:peers [-- flags]

  --quick          few workloads on 1,000 nodes, one round; under 15 minutes on two cores
  --rounds N       default 3 (1 with --quick)
  --nodes N,N      numbers of nodes, default 1000,5000
  --only PATTERN   a regular expression on scheduler/workload, such as 'tutti/gang4-.*arriving'
  --seed N         of the order of the runs; default drawn, and printed
  --profile        keep a CPU profile of each run of Tutti
  --record         keep the results in bench/results/peers.json and write docs/performance.md
  --from FILE      run nothing, but print (and with --record keep) the results in this file
  --cli PATH       the build of Tutti to measure, default dist/cli.js
  --help           print this
  --list           only print the runs, in their order`;

/** Throws with a message for the user when the flags are wrong. */
export function parseOptions(args: readonly string[], drawSeed: () => number): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      nodes: { type: 'string' },
      only: { type: 'string', default: '' },
      seed: { type: 'string' },
      profile: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      cli: { type: 'string', default: 'dist/cli.js' },
      from: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const { quick, profile, record, list, only, cli } = values;
  return {
    quick,
    profile,
    record,
    list,
    cli,
    ...(values.from !== undefined && { from: values.from }),
    rounds: values.rounds === undefined ? (quick ? 1 : 3) : wholeNumber('--rounds', values.rounds),
    nodes: (values.nodes ?? '1000,5000').split(',').map((text) => wholeNumber('--nodes', text)),
    seed: values.seed === undefined ? drawSeed() : wholeNumber('--seed', values.seed),
    only: new RegExp(only),
  };
}

function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${flag} must be a whole number from 1, not "${text}"`);
}

export function isWanted({ only }: BenchOptions, contender: ContenderName, workload: string): boolean {
  return only.test(`${contender}/${workload}`);
}
