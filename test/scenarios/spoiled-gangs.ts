import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../src/base/random.ts';
import { partialPeriods } from '../expect/partial-periods.ts';
import type { PartialPeriod } from '../expect/partial-periods.ts';
import { nodeOf } from '../expect/expect-bound.ts';
import { BindingSpoiler } from '../planes/binding-spoiler.ts';
import type { Spoiling } from '../planes/binding-spoiler.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import { atOnce } from '../real/at-once.ts';
import type { Stage } from './stage.ts';

export interface SpoiledGangsOptions {
  /** Share of the Bindings. */
  readonly percent: number;
  /** Decides which Bindings are spoiled. */
  readonly seed: number;
  readonly kinds: readonly Spoiling[];
  readonly slowMs: number;
  /** Number of gangs, of which `fit` fit. */
  readonly gangs: number;
  readonly fit: number;
  /** Members of each gang; all are needed. */
  readonly size: number;
  /**
   * Observation time, from the first pod on. Infinity: until as many gangs are fully bound as fit, and all slow Bindings have been carried
   * out.
   */
  readonly seconds: number;
}

export interface SpoiledGangs {
  /** Number of fully bound gangs. */
  readonly whole: number;
  /** Number of partially bound gangs. */
  readonly partial: number;
  readonly periods: readonly PartialPeriod[];
  /** Number of Bindings sent, repeats included, and how many of them were spoiled. */
  readonly sent: number;
  readonly spoiled: number;
  /** Seconds from the first pod until as many gangs were fully bound as fit; undefined: never. */
  readonly secondsToWhole: number | undefined;
}

export interface SpoiledGangsSetting {
  readonly stage: Stage;
  /** Starts a scheduler that reaches the server only through the proxy; resolves when it schedules. */
  readonly startScheduler: (through: ApiProxy) => Promise<unknown>;
}

/** CPUs of a node; a member has one. */
const nodeCpu = 10;

/** Returns nodes that fit exactly `fit` gangs. */
export function nodesFor({ fit, size }: Pick<SpoiledGangsOptions, 'fit' | 'size'>): {
  readonly name: string;
  readonly allocatable: Readonly<Record<string, string>>;
}[] {
  return Array.from({ length: Math.ceil((fit * size) / nodeCpu) }, (_, index) => ({
    name: `spoiled-${index}`,
    allocatable: { cpu: String(Math.min(nodeCpu, fit * size - index * nodeCpu)), memory: '64Gi', pods: '110' },
  }));
}

/**
 * Creates more gangs than fit at once, with interleaved members, while a share of the scheduler's Bindings is spoiled. The nodes must
 * exist. Rejects only when the pods cannot be created.
 */
export async function playSpoiledGangs(
  { stage, startScheduler }: SpoiledGangsSetting,
  options: SpoiledGangsOptions,
): Promise<SpoiledGangs> {
  const { percent, seed, kinds, slowMs, gangs, fit, size, seconds } = options;
  const { record, namespace, plane } = stage;
  const proxy = await stage.openProxy();
  const spoiler = new BindingSpoiler({
    transport: plane.transport,
    percent,
    random: seededRandom(seed),
    kinds,
    slowMs,
  });
  proxy.fault = spoiler.fault;
  await startScheduler(proxy);
  const names = Array.from({ length: gangs }, (_, index) => `gang-${index}`);
  for (const name of names) await stage.createGroup(name, { minMember: size });
  const begunAt = performance.now();
  const members = Array.from({ length: size }, (_, index) => names.map((gang) => ({ gang, name: `${gang}-${index}` })));
  await atOnce(members.flat(), ({ gang, name }) => stage.createPod(name, { group: gang, cpu: 1 }));
  const boundOf = (gang: string): number => {
    const keys = Array.from({ length: size }, (_, index) => `${namespace}/${gang}-${index}`);
    return keys.filter((key) => nodeOf(record, key) !== undefined).length;
  };
  const whole = (): number => names.filter((gang) => boundOf(gang) === size).length;
  let wholeAt: number | undefined;
  const leftMs = Math.min(seconds, 60) * 1000 - (performance.now() - begunAt);
  const becomesWhole = record.until(`${fit} gangs are whole`, leftMs, () => {
    if (whole() < fit) return `${whole()} are`;
    wholeAt ??= performance.now();
    return undefined;
  });
  await becomesWhole.catch(() => undefined); // the result states how many are fully bound
  if (seconds < Infinity) await sleep(Math.max(0, begunAt + seconds * 1000 - performance.now()));
  await spoiler.settled();
  proxy.fault = undefined;
  const periods = partialPeriods(record.pods.changes, { namespace, minMember: size, until: performance.now() });
  return {
    whole: whole(),
    partial: names.filter((gang) => boundOf(gang) > 0 && boundOf(gang) < size).length,
    periods,
    sent: spoiler.passed,
    spoiled: spoiler.spoiled,
    secondsToWhole: wholeAt === undefined ? undefined : (wholeAt - begunAt) / 1000,
  };
}
