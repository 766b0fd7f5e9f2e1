import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { EventToRecord } from '../client/event-recorder.ts';
import type { Extender, WholePod } from '../framework/extender.ts';
import type { PodBinder, VolumeWriter } from '../framework/plugin-handle.ts';

/** What the core of a scheduler needs of the world. All else it is told by its watch handlers. */
export interface SchedulerPorts {
  readonly binder: PodBinder;
  readonly verdicts: VerdictSink;
  readonly events: EventSink;
  readonly evictor: PodEvictor;
  readonly volumes: VolumeWriter;
  /** Absent: nobody outside has a say in scheduling. */
  readonly extenders?: ExtenderPort;
}

/** Who outside this process has a say in scheduling. */
export interface ExtenderPort {
  /** In the order in which they are asked. At least one. */
  readonly extenders: readonly Extender[];
  /** The pod as the API has it. Rejects when it cannot be read or is another one by now, or with the signal's reason. */
  whole(pod: Pod, signal: AbortSignal): Promise<WholePod>;
}

/**
 * How writing a verdict ended:
 * - `written`;
 * - `outdated`: the pod has changed since it was seen; the watch will show it anew;
 * - `gone`: there is no such pod any more.
 */
export type VerdictOutcome = 'written' | 'outdated' | 'gone';

export interface VerdictUrgency {
  /** The first of a group's members, from which the group's status is copied, or a lone pod; the others may wait longer. */
  readonly isFirst: boolean;
  /** Clock.monotonic() when the verdict was reached: what it may be held up for counts from then. */
  readonly since: number;
}

/** Puts verdicts on pods, as the condition PodScheduled. */
export interface VerdictSink {
  /**
   * Writes the verdict if the pod is still as `pod` shows it, repeating what can be repeated. Rejects when it cannot be
   * written for good, or with the signal's reason.
   */
  write(pod: Pod, verdict: Verdict, urgency: VerdictUrgency, signal: AbortSignal): Promise<VerdictOutcome>;
}

export interface EventSink {
  /** Never throws; what cannot be written is lost. */
  record(event: EventToRecord): void;
}

/**
 * How asking for a pod to be evicted ended:
 * - `going`: it is being deleted, or gone;
 * - `protected`: a disruption budget does not allow it now.
 */
export type ReleaseOutcome = 'going' | 'protected';

/** Removes pods from nodes. */
export interface PodEvictor {
  /**
   * Marks the pod as disrupted by the scheduler, for `beneficiary`, and deletes it with its own grace period. A pod that is gone
   * or was made anew counts as evicted. Rejects when it cannot be deleted.
   */
  evict(pod: Pod, beneficiary: string, signal: AbortSignal): Promise<void>;
  /**
   * Has the pod evicted for nobody in particular, within its disruption budgets and with its own grace period. A pod that is gone or
   * was made anew counts as going. Rejects when it may not be asked for, or cannot be carried out.
   */
  release(pod: Pod, signal: AbortSignal): Promise<ReleaseOutcome>;
}
