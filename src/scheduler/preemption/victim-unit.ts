import { isTerminal, succeededByItself } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { toError } from '../../base/to-error.ts';
import { isPlainAnswer, UnclearOutcomeError, WithdrawnError } from '../../client/api-errors.ts';
import { wait } from '../../client/wait.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Logger } from '../../observability/logger.ts';
import type { PodEvictor, RequestTerms } from '../ports.ts';

/** What a preemption wants to hear of its victims. */
export interface VictimObserver {
  /** The API server has accepted the delete, or the pod is gone. */
  readonly evicted: (pod: Pod, unit: VictimUnit) => void;
  /** A delete has failed after its retries. It is sent again later. */
  readonly failed: (error: Error) => void;
  /** These pods stay after all: the plan had ended, and their deletes that were on their way have failed. */
  readonly stay: (uids: Iterable<string>) => void;
}

export interface VictimUnitOptions {
  readonly cluster: Pick<Cluster, 'pod'>;
  readonly evictor: Pick<PodEvictor, 'mark' | 'unmark' | 'evict' | 'release'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Once aborted, nothing is sent any more. The next leader continues from the marks. */
  readonly signal: AbortSignal;
  readonly pods: readonly Pod[];
  /** The group that would fall below its quorum without these pods; undefined: one pod that goes alone. */
  readonly gangKey: string | undefined;
  /** Name of the scheduler, for the marks. */
  readonly schedulerName: string;
  /** Returns for whom the pods make way, for a text in their namespace: `a higher priority pod (default/x)`. */
  readonly beneficiary: (namespace: string) => string;
  /** True: the pods are evicted through the Eviction API, within their disruption budgets. */
  readonly keepsBudgets: boolean;
  /** Returns whether the rest of another group goes first, once a disruption budget allows it. */
  readonly mustWait: (unit: VictimUnit) => boolean;
  readonly observer: VictimObserver;
  /** A request has ended. */
  readonly changed: (unit: VictimUnit) => void;
  /** Returns whether another unit is about to evict the pod, so that its mark must stay. */
  readonly isWantedElsewhere: (uid: string, unit: VictimUnit) => boolean;
  /** Earlier units of the same pods, whose marks may still be on their way back. */
  readonly earlier: readonly VictimUnit[];
  /** Set if the pods have a mark that no unit has written; `evicting`: the eviction of the group has begun. */
  readonly found?: 'marked' | 'evicting' | undefined;
}

/**
 * What was sent for a victim:
 * - `live`: nothing that has an effect. `marked`: the mark is written, or may be.
 * - `deleting`: a delete is on its way. `evicted`: the server accepted it. `gone`: the pod was gone before.
 * - `unmarking`: the mark is being taken back. `unmarked`: it was, or has no meaning any more.
 */
type VictimState = 'live' | 'marked' | 'deleting' | 'evicted' | 'gone' | 'unmarking' | 'unmarked';

interface Victim {
  readonly pod: Pod;
  state: VictimState;
  /** A delete has failed without a clear answer, so the server may have accepted it. */
  mayBeDeleted: boolean;
  /** Settles when the request for the mark has ended. Never rejects. */
  marking: Promise<unknown>;
  isBeingMarked: boolean;
  /** The mark has failed without a clear answer. */
  mayLackMark: boolean;
  /** Settles when the requests that take the mark back have ended. Undefined: none was sent. */
  undoing: Promise<unknown> | undefined;
}

/** Pause before an eviction is sent again that a disruption budget did not allow. */
const untilAllowed = { initialMs: 1_000, maxMs: 10_000 };
/** Pause before a request is sent again after all its own retries have failed. */
const again = { initialMs: 10_000, maxMs: 300_000 };
/** How often a mark of the rest of a group is tried again before the pod is deleted without one. */
const maxMarks = 5;
/** How often a mark is taken back that cannot be. Kubernetes' disruption controller resets it as well. */
const maxUndos = 10;

/**
 * Victims that go together or not at all: the members of a group that would fall below its quorum, or one pod. First all get a mark, then
 * all are deleted. `cancel` takes the marks back. Once a delete is on its way, a group is evicted to its end, whatever happens to the
 * plan, so that it is never left between 0 and minMember.
 */
export class VictimUnit {
  readonly gangKey: string | undefined;
  readonly #options: VictimUnitOptions;
  /** uid -> victim */
  readonly #victims: ReadonlyMap<string, Victim>;
  /** Victims that have not left the cluster cache, and uids of those that are not being deleted either. May contain some that have meanwhile. */
  readonly #present: Set<Victim>;
  readonly #live: Set<string>;
  /** Number of victims whose delete is on its way or accepted. */
  #deletes = 0;
  #isCancelled = false;
  #isUndone = false;

  constructor(options: VictimUnitOptions) {
    this.#options = options;
    this.gangKey = options.gangKey;
    const victims = options.pods.map((pod): Victim => ({
      pod,
      state: 'live',
      mayBeDeleted: false,
      marking: Promise.resolve(),
      isBeingMarked: false,
      mayLackMark: false,
      undoing: undefined,
    }));
    this.#victims = new Map(victims.map((victim) => [victim.pod.uid, victim]));
    this.#present = new Set(victims);
    this.#live = new Set(this.#victims.keys());
    if (options.found === 'marked') for (const victim of victims) this.#become(victim, 'marked');
  }

  has(uid: string): boolean {
    return this.#victims.has(uid);
  }

  get uids(): Iterable<string> {
    return this.#victims.keys();
  }

  get pods(): readonly Pod[] {
    return this.#options.pods;
  }

  /** Number of pods whose eviction the server has accepted. */
  get evictedCount(): number {
    return [...this.#victims.values()].filter(({ state }) => state === 'evicted').length;
  }

  /** True while a member of a group that goes is not being deleted yet, so that a replacement would join it. */
  get isTearing(): boolean {
    if (this.gangKey === undefined || this.isWithdrawn) return false;
    for (const uid of this.#live) {
      if (this.#isLive(uid) || this.#losesSuccess(this.#victims.get(uid)!)) return true;
      this.#live.delete(uid);
    }
    return false;
  }

  /** True once all pods have left the cluster cache, or all marks are taken back. */
  get isOver(): boolean {
    const isWithdrawn = this.isWithdrawn;
    for (const victim of this.#present) {
      const { pod, state, isBeingMarked } = victim;
      if (isWithdrawn && !isBeingMarked && (state === 'live' || state === 'gone' || state === 'unmarked')) continue;
      if (this.#isPresent(pod.uid) || this.#losesSuccess(victim)) return false;
      this.#present.delete(victim);
    }
    return true;
  }

  /** True while the eviction of the group has begun and disruption budgets do not allow the rest. */
  get isHeldUp(): boolean {
    return this.#options.keepsBudgets && this.hasBegun && this.pods.some(({ uid }) => this.#isLive(uid));
  }

  /** True if a member of the group is being deleted because of this unit, or may be: the group is evicted to its end. */
  get hasBegun(): boolean {
    return this.gangKey !== undefined && (this.#options.found === 'evicting' || this.#deletes > 0);
  }

  /** True if the pods stay: the plan has ended before the eviction of the group began, or before the pod was deleted. */
  get isWithdrawn(): boolean {
    return this.#isCancelled && !this.hasBegun;
  }

  /** True if no unit has written the marks, so that an earlier process may have deleted pods. */
  get isFound(): boolean {
    return this.#options.found !== undefined;
  }

  /** Returns whether the pod leaves because of this unit, as far as is known now. A delete that was sent has an effect even if the plan ended. */
  takes(uid: string): boolean {
    const victim = this.#victims.get(uid);
    return (victim !== undefined && isDeleted(victim)) || !this.isWithdrawn;
  }

  /** Marks all pods except those that are certainly marked. Resolves to the first error if a mark cannot be written. */
  async mark(isMarked: (pod: Pod) => boolean = () => false): Promise<Error | undefined> {
    const undoing = this.#options.earlier.flatMap((unit) =>
      [...unit.#victims.values()].flatMap((each) => each.undoing ?? []),
    );
    if (undoing.length > 0) await Promise.all(undoing);
    const marks: Promise<Error | undefined>[] = [];
    for (const victim of this.#victims.values()) {
      if (isMarked(victim.pod)) this.#become(victim, 'marked');
      else marks.push(this.#mark(victim));
    }
    return (await Promise.all(marks)).find((error) => error !== undefined);
  }

  /**
   * Deletes all pods. Resolves once each delete has succeeded, or failed with all its retries. The failed ones are sent again later, and those of
   * pods whose mark has failed too.
   */
  async evict(): Promise<void> {
    const deletes: Promise<void>[] = [];
    for (const victim of this.#victims.values()) {
      if (victim.state === 'gone') continue;
      if (lacksMark(victim)) void this.#later(again, 1, () => this.#delete(victim, 1));
      else deletes.push(this.#delete(victim, 1));
    }
    await Promise.all(deletes);
  }

  /**
   * Takes the marks back, unless the eviction of a group has begun. Deletes that wait to be sent are withdrawn. Resolves once each request
   * has ended.
   */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    if (this.isWithdrawn) await this.#undoAll();
  }

  /** The watch shows a new version of a pod. Although a mark was refused, an earlier try may have written it. */
  podSeen(uid: string): void {
    const victim = this.#victims.get(uid);
    if (victim?.state !== 'live' || !this.isWithdrawn || !this.#isMarked(uid)) return;
    this.#become(victim, 'marked');
    void this.#undoLate(victim);
  }

  #become(victim: Victim, state: VictimState): void {
    this.#deletes += Number(isDeleted({ state })) - Number(isDeleted(victim));
    victim.state = state;
  }

  /** Takes back the mark of a victim that could not be withdrawn before. */
  async #undoLate(victim: Victim): Promise<void> {
    // Until now, the pod counted as leaving, and with it each pod of a group.
    this.#options.observer.stay(this.#isUndone ? [victim.pod.uid] : this.uids);
    await Promise.all([this.#undoAll(), this.#undo(victim, 1)]);
  }

  /** Takes back all marks, once. */
  async #undoAll(): Promise<void> {
    if (this.#isUndone) return;
    this.#isUndone = true;
    await Promise.all([...this.#victims.values()].map((victim) => this.#undo(victim, 1)));
  }

  #isPresent(uid: string): boolean {
    const pod = this.#options.cluster.pod(uid);
    return pod !== undefined && !isTerminal(pod);
  }

  #isLive(uid: string): boolean {
    return this.#isPresent(uid) && !this.#options.cluster.pod(uid)!.deleting;
  }

  /** Returns whether the pod has ended and no delete is on its way. It stays: if it has succeeded, its group may rely on that. */
  #hasEnded(victim: Victim): boolean {
    return !isDeleted(victim) && !this.#isPresent(victim.pod.uid);
  }

  /** Returns whether the watch shows a success that a delete on its way takes back. */
  #losesSuccess(victim: Victim): boolean {
    if (!isDeleted(victim)) return false;
    const now = this.#options.cluster.pod(victim.pod.uid);
    return now !== undefined && succeededByItself(now);
  }

  /** Returns whether the watch shows a mark of this scheduler. */
  #isMarked(uid: string): boolean {
    return this.#options.cluster.pod(uid)?.preemptionMark?.schedulerName === this.#options.schedulerName;
  }

  #mark(victim: Victim): Promise<Error | undefined> {
    const { evictor, schedulerName, beneficiary, changed } = this.#options;
    const { uid } = victim.pod;
    const send = async (): Promise<Error | undefined> => {
      try {
        const message = `${schedulerName}: preempting to accommodate ${beneficiary(victim.pod.namespace)}`;
        const mayBeSent = (): void => {
          if (!this.#isPresent(uid)) throw new WithdrawnError('the pod is gone');
        };
        const terms = this.#terms(mayBeSent);
        this.#become(victim, (await evictor.mark(victim.pod, message, terms)) ? 'marked' : 'gone');
        victim.mayLackMark = false;
        return undefined;
      } catch (error) {
        if (!this.#isPresent(uid)) {
          this.#become(victim, 'gone');
          return undefined;
        }
        victim.mayLackMark ||= error instanceof UnclearOutcomeError;
        if (victim.mayLackMark || this.#isMarked(uid)) this.#become(victim, 'marked');
        return toError(error);
      } finally {
        victim.isBeingMarked = false;
        changed(this);
      }
    };
    victim.isBeingMarked = true;
    const marking = send();
    victim.marking = marking;
    return marking;
  }

  async #delete(victim: Victim, times: number): Promise<void> {
    const { signal, logger, observer, changed } = this.#options;
    if (lacksMark(victim) && times <= maxMarks && (await this.#mark(victim)) !== undefined) {
      void this.#later(again, times, () => this.#delete(victim, times + 1));
      return;
    }
    try {
      if (await this.#evict(victim)) {
        this.#become(victim, 'evicted');
        observer.evicted(victim.pod, this);
      } else {
        if (victim.state === 'deleting') this.#become(victim, 'marked');
        if (this.isWithdrawn) await this.#undoLate(victim);
        else void this.#later(untilAllowed, times, () => this.#delete(victim, times + 1));
      }
    } catch (error) {
      if (error instanceof WithdrawnError && !this.isWithdrawn && this.#hasEnded(victim)) {
        this.#become(victim, 'gone');
        return;
      }
      // Without a clear answer, the server may have deleted it. A group has then begun to go.
      victim.mayBeDeleted = error instanceof UnclearOutcomeError || (victim.mayBeDeleted && !isPlainAnswer(error));
      if (victim.state === 'deleting' && (!victim.mayBeDeleted || this.gangKey === undefined))
        this.#become(victim, 'marked');
      if (signal.aborted) return;
      if (this.isWithdrawn) {
        // While deletes of other members were on their way, it looked as if the eviction had begun.
        await this.#undoLate(victim);
        return;
      }
      if (!(error instanceof WithdrawnError)) {
        logger.warn('could not evict a pod', { pod: victim.pod.key, error });
        observer.failed(toError(error));
      }
      void this.#later(again, times, () => this.#delete(victim, times + 1));
    } finally {
      changed(this);
    }
  }

  /** Resolves to false if a disruption budget does not allow the eviction now. */
  async #evict(victim: Victim): Promise<boolean> {
    const { evictor, keepsBudgets, mustWait } = this.#options;
    const mayBeSent = (): void => {
      if (this.#hasEnded(victim)) throw new WithdrawnError('the pod has ended');
      this.#become(victim, 'deleting');
    };
    const terms = { ...this.#terms(mayBeSent), mayBeDone: victim.mayBeDeleted };
    if (keepsBudgets && mustWait(this) && !this.hasBegun) return false;
    if (!keepsBudgets) {
      await evictor.evict(victim.pod, terms);
      return true;
    }
    if ((await evictor.release(victim.pod, terms)) === 'going') return true;
    victim.mayBeDeleted = false;
    return false;
  }

  /** Takes the mark back, unless the pod is gone or being deleted after all. */
  #undo(victim: Victim, times: number): Promise<void> {
    const undoing = this.#sendUndo(victim, times);
    victim.undoing = victim.undoing === undefined ? undoing : Promise.all([victim.undoing, undoing]);
    return undoing;
  }

  async #sendUndo(victim: Victim, times: number): Promise<void> {
    const { evictor, signal, schedulerName, logger, isWantedElsewhere, changed } = this.#options;
    await victim.marking;
    const { pod } = victim;
    // An earlier unit may have left its mark to this one.
    if (victim.state === 'live' && this.#isMarked(pod.uid)) this.#become(victim, 'marked');
    if (victim.state !== 'marked' || signal.aborted) return;
    this.#become(victim, 'unmarking');
    try {
      if (this.#isLive(pod.uid) && !isWantedElsewhere(pod.uid, this)) {
        const terms = { mayBeSent: () => undefined, signal };
        await evictor.unmark(pod, `${schedulerName}: the preemption was given up`, terms);
      }
      this.#become(victim, 'unmarked');
    } catch (error) {
      this.#become(victim, times < maxUndos ? 'marked' : 'unmarked');
      if (signal.aborted) return;
      logger.warn('could not take back the mark of a preemption', { pod: pod.key, error });
      void this.#later(again, times, () => this.#undo(victim, times + 1));
    } finally {
      changed(this);
    }
  }

  async #later(pause: BackoffPolicy, times: number, send: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.#options;
    try {
      await wait(clock, backoffDelay(pause, times), signal);
    } catch {
      return;
    }
    await send();
  }

  #terms(onSend: () => void): RequestTerms {
    const mayBeSent = (): void => {
      if (this.isWithdrawn) throw new WithdrawnError('the preemption was given up');
      onSend();
    };
    return { mayBeSent, signal: this.#options.signal };
  }
}

/** Returns whether the mark has failed, so that it is not certain that the pod has one. */
function lacksMark({ state, mayLackMark }: Victim): boolean {
  return state === 'live' || (state === 'marked' && mayLackMark);
}

/** Returns whether a delete is on its way, or the server has accepted one. */
function isDeleted({ state }: Pick<Victim, 'state'>): boolean {
  return state === 'deleting' || state === 'evicted';
}
