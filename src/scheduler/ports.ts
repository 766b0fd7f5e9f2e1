import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { EventToRecord } from '../client/event-recorder.ts';
import type { Extender, WholePod } from '../framework/extender.ts';
import type { PodBinder, VolumeWriter } from '../framework/plugin-handle.ts';

/** The outputs of the scheduler core. Its inputs are the watch handlers. */
export interface SchedulerPorts {
  readonly binder: PodBinder;
  readonly verdicts: VerdictSink;
  readonly events: EventSink;
  readonly evictor: PodEvictor;
  readonly volumes: VolumeWriter;
  /** If absent, no extender takes part in scheduling. */
  readonly extenders?: ExtenderPort;
}

/** The configured extenders and the pods that they read. */
export interface ExtenderPort {
  /** In the order in which they are called. At least one. */
  readonly extenders: readonly Extender[];
  /** Returns the pod as the API has it. Rejects if it cannot be read or has been replaced, or with the signal's reason. */
  whole(pod: Pod, signal: AbortSignal): Promise<WholePod>;
}

/**
 * The result of writing a verdict:
 * - `written`;
 * - `outdated`: the pod has changed since the cache saw it; the watch will deliver the change;
 * - `gone`: the pod no longer exists.
 */
export type VerdictOutcome = 'written' | 'outdated' | 'gone';

export interface VerdictUrgency {
  /** The pod is the first member of its group, whose condition the group's status copies, or has no group. Other pods may wait longer. */
  readonly isFirst: boolean;
  /** Clock.monotonic() when the verdict was reached. Delay limits count from here. */
  readonly since: number;
}

/** A verdict for one pod. */
export interface PodVerdict extends Verdict {
  /** The nomination to write with it; empty: to clear. Absent: it stays as it is. */
  readonly nominatedNodeName?: string;
}

/** Writes verdicts to pods, as the PodScheduled condition. */
export interface VerdictSink {
  /**
   * Writes the verdict if the pod is still as `pod` shows it, and retries transient errors. Rejects on a permanent error, or with the
   * signal's reason.
   */
  write(pod: Pod, verdict: PodVerdict, urgency: VerdictUrgency, signal: AbortSignal): Promise<VerdictOutcome>;
}

export interface EventSink {
  /** Never throws. An Event that cannot be written is lost. */
  record(event: EventToRecord): void;
}

/**
 * The result of an eviction request:
 * - `going`: the pod is being deleted, or is gone;
 * - `protected`: a PodDisruptionBudget does not allow the eviction now.
 */
export type ReleaseOutcome = 'going' | 'protected';

/** When a request may be sent, and what ends it. */
export interface RequestTerms {
  /** Called right before the request is sent, again before each retry. If it throws a WithdrawnError, nothing is sent. */
  readonly mayBeSent: () => void;
  /** True if the request may have been carried out by an earlier call, whose outcome is unknown. */
  readonly mayBeDone?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Evicts bound pods. A call rejects if the request fails for good, is withdrawn or is aborted; transient errors are retried a few times. It
 * rejects with an UnclearOutcomeError if the request may have been carried out.
 */
export interface PodEvictor {
  /**
   * Sets the condition DisruptionTarget with this message, so that other components know why the pod will be deleted. Resolves to false if
   * the pod is gone or was replaced.
   */
  mark(pod: Pod, message: string, terms: RequestTerms): Promise<boolean>;
  /** Sets the status of the condition to False. A pod that is gone or was replaced needs none. */
  unmark(pod: Pod, message: string, terms: RequestTerms): Promise<void>;
  /**
   * Deletes the pod with its own grace period. A pod that is gone or was replaced counts as evicted. If the server rejects the request, it is
   * not deleting the pod: the pod was read back if an earlier request may have been carried out.
   */
  evict(pod: Pod, terms: RequestTerms): Promise<void>;
  /**
   * Evicts the pod through the eviction API, within its disruption budgets and with its own grace period. Otherwise like `evict`; `protected`:
   * the pod is not being deleted.
   */
  release(pod: Pod, terms: RequestTerms): Promise<ReleaseOutcome>;
}
