import { parseArgs } from 'node:util';
import type { ContenderName } from './contenders/contender.ts';
import { selectionKeys } from './selection.ts';
import type { Selection } from './selection.ts';

export interface BenchOptions extends Selection {
  /** Flags of the selection that the user set. */
  readonly given: ReadonlySet<keyof Selection>;
  /** Write the results to bench/results. */
  readonly record: boolean;
  /** Run nothing, but read the results of an earlier execution from this file. */
  readonly from?: string;
  /** Resume the execution whose results are in this file. */
  readonly resume?: string;
  /** Tutti's built command line to measure. */
  readonly cli: string;
  /** Print the runs without running them. */
  readonly list: boolean;
}

export const usage = `npm run bench:peers [-- flags]

  --quick          few workloads on 1,000 nodes, one round; under 15 minutes on two cores
  --long           arriving gangs of 3, 4 and 100, 10,000 pods; about half an hour on 1,000 nodes
  --native         the workloads of --long for kube-scheduler, and for Tutti with the PodGroups of either API
  --preemption     pods and gangs that preempt pods of lower priority
  --rounds N       default 3 (1 with --quick)
  --nodes N,N      numbers of nodes, default 1000,5000 (1000 with --long and --native); --preemption has its own
  --only PATTERN   a regular expression on scheduler/workload, such as 'tutti/gang4-.*arriving'
  --seed N         seed of the order of the runs, default random; the benchmark prints it
  --profile        keep a CPU profile of each run of Tutti
  --record         write the results to bench/results, as peers.json and peers.md
                   (with --long peers-long.json and peers-long.md, with --preemption and --native likewise)
  --from FILE      run nothing, but print (and with --record write) the results in this file
  --resume FILE    resume an interrupted execution, whose results are in this file
  --cli PATH       the build of Tutti to measure, default dist/cli.js
  --help           print this
  --list           print the runs in order, without running them`;

/** Parses the flags. Throws with a message for the user if they are invalid. */
export function parseOptions(args: readonly string[], drawSeed: () => number): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      long: { type: 'boolean' },
      preemption: { type: 'boolean' },
      native: { type: 'boolean' },
      rounds: { type: 'string' },
      nodes: { type: 'string' },
      only: { type: 'string' },
      seed: { type: 'string' },
      profile: { type: 'boolean' },
      record: { type: 'boolean', default: false },
      cli: { type: 'string', default: 'dist/cli.js' },
      from: { type: 'string' },
      resume: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const { quick = false, long = false, preemption = false, native = false, profile = false, only = '' } = values;
  const { record, list, cli, from, resume } = values;
  if (from !== undefined && resume !== undefined)
    throw new Error('--from runs nothing, so it cannot be combined with --resume');
  if ([quick, long, preemption, native].filter(Boolean).length > 1)
    throw new Error('--quick, --long, --preemption and --native cannot be combined');
  if (preemption && values.nodes !== undefined) throw new Error('--nodes cannot be combined with --preemption');
  return {
    given: new Set(selectionKeys.filter((key) => values[key] !== undefined)),
    quick,
    long,
    preemption,
    native,
    profile,
    record,
    list,
    cli,
    ...(from !== undefined && { from }),
    ...(resume !== undefined && { resume }),
    rounds: values.rounds === undefined ? (quick ? 1 : 3) : wholeNumber('--rounds', values.rounds),
    nodes: (values.nodes ?? (long || native ? '1000' : '1000,5000'))
      .split(',')
      .map((text) => wholeNumber('--nodes', text)),
    seed: values.seed === undefined ? drawSeed() : wholeNumber('--seed', values.seed),
    only: pattern('--only', only),
  };
}

function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${flag} must be a whole number from 1, not "${text}"`);
}

function pattern(flag: string, text: string): string {
  try {
    new RegExp(text);
    return text;
  } catch (cause) {
    throw new Error(`${flag}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

export function isWanted({ only }: Pick<Selection, 'only'>, contender: ContenderName, workload: string): boolean {
  return new RegExp(only).test(`${contender}/${workload}`);
}
