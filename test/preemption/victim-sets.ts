import { lowestPriorityOf } from './instance.ts';
import type { Instance, RunningPod } from './instance.ts';
import { PlainCluster } from './plain-cluster.ts';
import type { MemberNodes } from './plain-cluster.ts';

/** Running pods that may be evicted together. */
export interface VictimSet {
  /** Bit i: running pod i is a victim. */
  readonly mask: number;
  readonly pods: number;
  /** Highest priority; -Infinity: no pod. */
  readonly top: number;
  /** Evictions beyond what the budgets allow. */
  readonly violations: number;
}

/**
 * All sets of pods that may be evicted, the smallest first: each pod has a lower priority than the preemptor's lowest member, and a group
 * keeps its quorum or goes whole.
 */
export class VictimSets {
  readonly all: readonly VictimSet[];
  readonly #instance: Instance;
  /** Sets that are enough, and sets that are not. */
  readonly #enough: number[] = [];
  readonly #tooFew: number[] = [];

  constructor(instance: Instance) {
    this.#instance = instance;
    let masks = [0];
    for (const choices of choicesOf(instance)) masks = masks.flatMap((mask) => choices.map((choice) => mask | choice));
    this.all = masks.map((mask) => this.#describe(mask)).sort((a, b) => a.pods - b.pods);
  }

  /** Returns the set with these pods; undefined if they may not be evicted together. */
  of(pods: Iterable<number>): VictimSet | undefined {
    let mask = 0;
    for (const pod of pods) mask |= 1 << pod;
    return this.all.find((set) => set.mask === mask);
  }

  /** Returns whether the preemptor fits somewhere once these pods are gone. */
  suffices({ mask }: VictimSet): boolean {
    if (this.#enough.some((less) => (less & mask) === less)) return true;
    if (this.#tooFew.some((more) => (more & mask) === mask)) return false;
    const fits = this.#without(mask).fits();
    (fits ? this.#enough : this.#tooFew).push(mask);
    return fits;
  }

  /** Returns whether these members fit on these nodes once the pods are gone. */
  sufficesFor({ mask }: VictimSet, plan: MemberNodes): boolean {
    return this.#without(mask).takes(plan);
  }

  /** Returns whether any set suffices. */
  get exists(): boolean {
    // Large sets prove most if they do not suffice.
    return this.all.toReversed().some((set) => this.suffices(set));
  }

  *smallerThan({ mask }: VictimSet): Iterable<VictimSet> {
    for (const set of this.all) if (set.mask !== mask && (set.mask & mask) === set.mask) yield set;
  }

  #without(mask: number): PlainCluster {
    return new PlainCluster(this.#instance, (pod) => isIn(mask, pod));
  }

  #describe(mask: number): VictimSet {
    const { running, budgets } = this.#instance;
    const victims = running.filter((_, i) => isIn(mask, i));
    const violations = budgets.map((allowed, i) => {
      return Math.max(0, victims.filter(({ budget }) => budget === i).length - allowed);
    });
    return {
      mask,
      pods: victims.length,
      top: Math.max(-Infinity, ...victims.map(({ priority }) => priority)),
      violations: violations.reduce((sum, count) => sum + count, 0),
    };
  }
}

/** Returns for each unit which of its pods may go, as masks. */
function choicesOf(instance: Instance): number[][] {
  const { running, groups } = instance;
  const priority = lowestPriorityOf(instance);
  const live = [...running.entries()].filter(([, { isLeaving, group }]) => !isLeaving && group !== 'own');
  const mayGo = live.filter(([, pod]) => pod.priority < priority);
  const single = mayGo.filter(([, { group }]) => group === undefined).map(([i]) => [0, 1 << i]);
  const ofGroups = groups.map(({ minMember }, group) => {
    const members = live.filter(([, pod]) => pod.group === group).length;
    const going = mayGo.filter(([, pod]) => pod.group === group);
    const surplus = Math.max(0, members - minMember);
    if (going.length < members) return subsetsOf(leastImportantFirst(going).slice(0, surplus));
    const whole = maskOf(going);
    const choices = subsetsOf(going).filter((mask) => countOf(mask) <= surplus);
    return choices.includes(whole) ? choices : [...choices, whole];
  });
  return [...single, ...ofGroups];
}

/** If a member of a group must stay, only the least important ones beyond the quorum may go: those of the lowest priority, then the newest. */
function leastImportantFirst(pods: readonly (readonly [number, RunningPod])[]): (readonly [number, RunningPod])[] {
  return pods.toSorted(([, a], [, b]) => a.priority - b.priority || b.startedAt - a.startedAt);
}

function maskOf(pods: readonly (readonly [number, RunningPod])[]): number {
  return pods.reduce((mask, [i]) => mask | (1 << i), 0);
}

function subsetsOf(pods: readonly (readonly [number, RunningPod])[]): number[] {
  return pods.reduce<number[]>((masks, [i]) => [...masks, ...masks.map((mask) => mask | (1 << i))], [0]);
}

function isIn(mask: number, pod: number): boolean {
  return (mask & (1 << pod)) !== 0;
}

function countOf(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
