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
  /** Of the Bindings. */
  readonly percent: number;
  /** Decides which Bindings are spoiled. */
  readonly seed: number;
  readonly kinds: readonly Spoiling[];
  readonly slowMs: number;
  /** Gangs in all, of which so many fit. */
  readonly gangs: number;
  readonly fit: number;
  /** Members of each, all of which it needs. */
  readonly size: number;
  /** How long is looked on, from the first pod on. Infinity: until as many gangs are whole as fit, and what is slow has been carried out. */
  readonly seconds: number;
}

export interface SpoiledGangs {
  /** Gangs of which all members are on nodes. */
  readonly whole: number;
  /** Gangs that have some on nodes, but not all. */
  readonly partial: number;
  readonly periods: readonly PartialPeriod[];
  /** Bindings that were sent, repeats included, and how many of them were spoiled. */
  readonly sent: number;
  readonly spoiled: number;
  /** From the first pod until as many gangs were whole as fit; undefined: they never were. */
  readonly secondsToWhole: number | undefined;
}

export interface SpoiledGangsSetting {
  readonly stage: Stage;
  /** A scheduler that reaches the server only through the proxy, and schedules when it resolves. */
  readonly startScheduler: (through: ApiProxy) => Promise<unknown>;
}

/** cpu of a node, and of a member one. */
const nodeCpu = 10;

/** Nodes on which so many of the gangs fit. */
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
 * More gangs than fit are made at once, their members interleaved, while a share of the scheduler's Bindings is spoiled on the way. The nodes
 * are there already. Rejects only when the load could not be made.
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
  await becomesWhole.catch(() => undefined); // how many are whole is among the results
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
