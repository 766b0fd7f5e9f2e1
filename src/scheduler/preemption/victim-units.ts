import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { Multimap } from '../../base/multimap.ts';
import { goSingly, mayRunWith } from '../../cluster/gang-view.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import { preemptionLimitsOf } from '../../framework/preemption-limits.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Intake } from '../intake/intake.ts';
import type { PodEvictor } from '../ports.ts';
import { VictimUnit } from './victim-unit.ts';
import type { VictimObserver, VictimUnitOptions } from './victim-unit.ts';

export interface VictimUnitsOptions {
  readonly intake: Pick<Intake, 'cluster' | 'clock' | 'gate' | 'profiles' | 'router'>;
  readonly evictor: Pick<PodEvictor, 'mark' | 'unmark' | 'evict' | 'release'>;
  readonly logger: Logger;
  /** Once aborted, nothing is sent any more. */
  readonly signal: AbortSignal;
}

/** For whom victims make way, and who hears of them. */
export interface VictimTerms extends Pick<VictimUnitOptions, 'schedulerName' | 'beneficiary' | 'keepsBudgets'> {
  /** Called between attempts. */
  readonly observer: VictimObserver;
}

const noObserver: VictimObserver = { evicted: () => undefined, failed: () => undefined, stay: () => undefined };

/**
 * All pods that are being preempted, in units. While a group is torn down, its replacements are not scheduled.
 *
 * The marks are the only record of a preemption in the API. A mark of this scheduler that belongs to no unit was left by an earlier process,
 * or was written after the preemption had been given up. It is settled by two rules, from the API's state alone:
 * - If an earlier process evicted a part of a group, and the rest is below the quorum or the group goes as a whole, the rest is evicted as
 *   well.
 * - Any other pod that is not being deleted loses its mark.
 */
export class VictimUnits {
  readonly #options: VictimUnitsOptions;
  /** uid -> the units of this victim that are not over. A higher priority may choose a victim that another preemption is about to evict. */
  readonly #unitsOf = new Multimap<string, VictimUnit>();
  /** key of a group -> the units that tear it down */
  readonly #torn = new Multimap<string, VictimUnit>();
  /**
   * uids of pods whose preemption this process has given up, until they are gone. A pod that then terminates for another reason keeps its mark,
   * and the watch may show a mark late.
   */
  readonly #spared = new Set<string>();
  /** `waiting`: the marks of an earlier process are not known yet. */
  #state: 'waiting' | 'settling' | 'running' = 'waiting';

  constructor(options: VictimUnitsOptions) {
    this.#options = options;
    options.intake.router.barWhile((key) => this.#torn.has(key));
  }

  /** True while the marks of an earlier process are settled. Nothing may be bound until then. */
  get isSettling(): boolean {
    return this.#state === 'settling';
  }

  /** Returns whether the pod is about to be evicted, or leaves after an eviction. */
  has(uid: string): boolean {
    return this.#unitsOf.of(uid).some((unit) => unit.takes(uid));
  }

  /** uids of the victims that have not left yet */
  get uids(): Iterable<string> {
    return this.#unitsOf.keys();
  }

  /** Settles the marks of an earlier process, and then calls `settled`. */
  begin(settled: () => void): void {
    const { cluster, gate } = this.#options.intake;
    const marked = [...cluster.pods()].filter(({ preemptionMark }) => preemptionMark !== undefined);
    const settling = this.#settle(marked, true);
    this.#state = settling.length === 0 ? 'running' : 'settling';
    if (settling.length === 0) {
      settled();
      return;
    }
    void Promise.all(settling).then(() =>
      gate.run(() => {
        this.#state = 'running';
        settled();
      }),
    );
  }

  /** Returns units of these pods: the pods of a group that would fall below its quorum go together, each other pod alone. */
  unite(pods: readonly Pod[], terms: VictimTerms): readonly VictimUnit[] {
    const { cluster } = this.#options.intake;
    const alone: Pod[] = [];
    /** group -> its members among the pods */
    const byGang = new Map<GangView, Pod[]>();
    for (const pod of pods) {
      const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
      if (gang?.isPresent(pod.uid) !== true || goSingly(gang)) {
        alone.push(pod);
        continue;
      }
      const members = byGang.get(gang);
      if (members === undefined) byGang.set(gang, [pod]);
      else members.push(pod);
    }
    const units: VictimUnit[] = [];
    for (const [gang, members] of byGang) {
      const leaving = [...gang.members.keys()].filter((uid) => gang.isPresent(uid) && this.has(uid)).length;
      const left = gang.present - leaving - members.length;
      if (mayRunWith(left, gang)) alone.push(...members);
      else units.push(this.#unit(members, gang.key, terms));
    }
    return [...units, ...alone.map((pod) => this.#unit([pod], undefined, terms))];
  }

  /** Takes back what is not on its way, for a plan that has ended. */
  cancel(units: readonly VictimUnit[]): void {
    for (const unit of units) {
      void unit.cancel();
      this.#reconcile(unit);
    }
  }

  /** Handles a pod as the API now shows it; undefined: it was deleted. */
  podSeen(uid: string, pod: Pod | undefined): void {
    if (this.#state === 'waiting') return;
    if (pod === undefined) this.#spared.delete(uid);
    const units = this.#unitsOf.of(uid);
    for (const unit of units) {
      unit.podSeen(uid);
      this.#reconcile(unit);
    }
    if (units.length === 0 && pod?.preemptionMark !== undefined) void Promise.all(this.#settle([pod], false));
  }

  #unit(
    pods: readonly Pod[],
    gangKey: string | undefined,
    { observer, ...terms }: VictimTerms,
    found?: VictimUnitOptions['found'],
  ): VictimUnit {
    const { intake, evictor, logger, signal } = this.#options;
    const { cluster, clock, gate } = intake;
    const earlier = [...new Set(pods.flatMap(({ uid }) => this.#unitsOf.of(uid)))];
    const unit = new VictimUnit({
      ...{ cluster, evictor, clock, logger, signal, pods, gangKey, found, earlier, ...terms },
      observer: {
        evicted: (pod, of) => gate.run(() => observer.evicted(pod, of)),
        failed: (error) => gate.run(() => observer.failed(error)),
        stay: (uids) => gate.run(() => observer.stay(uids)),
      },
      // Budgets are of one namespace.
      mustWait: (of) =>
        this.#torn
          .values()
          .some((other) => other !== of && other.isHeldUp && other.pods[0]!.namespace === of.pods[0]!.namespace),
      changed: (of) => gate.run(() => this.#reconcile(of)),
      isWantedElsewhere: (uid, of) => this.#unitsOf.of(uid).some((other) => other !== of && !other.isWithdrawn),
    });
    for (const uid of unit.uids) this.#unitsOf.add(uid, unit);
    if (gangKey !== undefined) {
      this.#torn.add(gangKey, unit);
      this.#route(gangKey);
    }
    return unit;
  }

  #reconcile(unit: VictimUnit): void {
    if (unit.isOver) this.#forget(unit);
    const { gangKey } = unit;
    if (gangKey === undefined || unit.isTearing || !this.#torn.delete(gangKey, unit)) return;
    if (!this.#torn.has(gangKey)) this.#route(gangKey);
  }

  #forget(unit: VictimUnit): void {
    const { cluster } = this.#options.intake;
    const isGivenUp = unit.isWithdrawn && !unit.isFound;
    for (const uid of unit.uids) {
      this.#unitsOf.delete(uid, unit);
      if (isGivenUp && cluster.pod(uid) !== undefined) this.#spared.add(uid);
    }
  }

  #route(gangKey: string): void {
    const { router, clock } = this.#options.intake;
    router.groupChanged(gangKey, 'Preempted', clock.now());
  }

  /** Returns promises of the first round of requests. `isTakeover`: another process may have deleted members without a trace. */
  #settle(marked: readonly Pod[], isTakeover: boolean): Promise<unknown>[] {
    const { cluster, profiles } = this.#options.intake;
    const ours = marked.filter(
      (pod) => pod.nodeName !== '' && !isTerminal(pod) && profiles.isOurs(pod.preemptionMark!.schedulerName),
    );
    /** group of which a part was evicted -> what is left of it */
    const broken = new Map<string, readonly Pod[]>();
    for (const pod of ours) {
      const gang = pod.podGroupKey === undefined ? undefined : cluster.gang(pod.podGroupKey);
      const mayHaveBegun = isTakeover || (pod.deleting && !this.#spared.has(pod.uid));
      const rest = gang !== undefined && mayHaveBegun ? restOf(gang, pod, isTakeover) : [];
      const staying = rest.filter(({ uid }) => !this.#unitsOf.of(uid).some(({ hasBegun }) => hasBegun));
      if (staying.length > 0) broken.set(gang!.key, staying);
    }
    const terms = ({ preemptionMark }: Pod): VictimTerms => {
      const { schedulerName } = preemptionMark!;
      const { keepsBudgets } = preemptionLimitsOf(profiles.named(schedulerName)!);
      return { schedulerName, keepsBudgets, beneficiary: () => 'a higher priority pod', observer: noObserver };
    };
    const stray = ours.filter(({ deleting, podGroupKey }) => !deleting && !broken.has(podGroupKey ?? ''));
    return [
      ...[...broken].map(async ([key, rest]) => {
        const mark = ours.find(({ podGroupKey }) => podGroupKey === key)!;
        const unit = this.#unit(rest, key, terms(mark), 'evicting');
        await unit.mark((pod) => isTakeover && pod.preemptionMark !== undefined);
        await unit.evict();
      }),
      ...stray.map((pod) => this.#unit([pod], undefined, terms(pod), 'marked').cancel()),
    ];
  }
}

/**
 * Returns the bound members of a group below its quorum, or of one that goes as a whole and has begun to, if some of them lived when `marked` got
 * its mark. Later ones belong to a new life of the group.
 */
function restOf(gang: Gang, marked: Pod, isTakeover: boolean): readonly Pod[] {
  const { minMember = 0, evictedWhole = false } = gang.spec ?? {};
  const { since } = marked.preemptionMark!;
  // A mark alone is no eviction: its plan may have been given up.
  const hasBegun = marked.deleting || (isTakeover && isRefilledSince(gang, since));
  if (gang.present >= minMember && !(evictedWhole && hasBegun)) return [];
  if (gang.stateOf(marked.uid) === 'former') return [];
  const bound = [...gang.members.values()].filter(({ uid, nodeName }) => {
    const state = gang.stateOf(uid);
    return nodeName !== '' && (state === 'bound' || state === 'stranded');
  });
  // The marked pod itself is older than its mark, even if the clock of the process that marked it was slow.
  const isOlder = ({ uid, creationTimestamp }: Pod): boolean =>
    uid === marked.uid || since === 0 || creationTimestamp <= since;
  return bound.some(isOlder) ? bound : [];
}

/** Returns whether a member that waits was created since then, in whole seconds: it probably replaces one that was evicted. */
function isRefilledSince(gang: Gang, since: number): boolean {
  return since !== 0 && [...gang.pending.values()].some(({ creationTimestamp }) => creationTimestamp >= since);
}
