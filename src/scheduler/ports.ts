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

/** Writes verdicts to pods, as the PodScheduled condition. */
export interface VerdictSink {
  /**
   * Writes the verdict if the pod is still as `pod` shows it, and retries transient errors. Rejects on a permanent error, or with the
   * signal's reason.
   */
  write(pod: Pod, verdict: Verdict, urgency: VerdictUrgency, signal: AbortSignal): Promise<VerdictOutcome>;
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

/** Evicts bound pods. */
export interface PodEvictor {
  /**
   * Adds a DisruptionTarget condition that names `beneficiary`, then deletes the pod with its own grace period. A pod that is gone or was
   * replaced counts as evicted. Rejects if the pod cannot be deleted.
   */
  evict(pod: Pod, beneficiary: string, signal: AbortSignal): Promise<void>;
  /**
   * Evicts the pod through the eviction API, within its disruption budgets and with its own grace period. A pod that is gone or was
   * replaced counts as going. Rejects if the scheduler lacks permission or the request fails.
   */
  release(pod: Pod, signal: AbortSignal): Promise<ReleaseOutcome>;
}
