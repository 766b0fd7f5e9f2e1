import type { RejectionReason } from '../api/rejection-code.ts';

/**
 * Why a plugin did not succeed. Success is `undefined`, so that the hot loop allocates nothing.
 * - `Unschedulable`: not now; a cluster change or preemption may help.
 * - `UnschedulableAndUnresolvable`: not now, and preemption cannot help.
 * - `Skip`: from PreFilter, PreScore, PreBind and Bind: the plugin has no work for this pod in this cycle.
 * - `Pending`: not until an external component has done what this plugin requested; preemption cannot help. After a registered event
 *   reports that it is done, the queue retries the entity at once, without backoff.
 * - `Error`: a failure that the cluster state does not explain; retried with the error backoff.
 */
export type StatusCode = 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Skip' | 'Error';

/** Immutable. Plugins keep frequently returned statuses as constants. */
export class Status {
  /** Skip from PreFilter that holds for the whole attempt, whatever the attempt assigns. */
  static readonly skipThroughout: Status = new Status('Skip', '');

  readonly code: StatusCode;
  /** Short phrases for users, without a period. The verdict counts nodes per reason. */
  readonly reasons: readonly string[];
  /** The same reasons, with what programs read of them. */
  readonly details: readonly RejectionReason[];
  /** Name of the plugin that returned the status; the framework sets it if the plugin did not. */
  readonly plugin: string;
  readonly cause: unknown;

  /**
   * Takes one reason or several: `Insufficient cpu` and `Insufficient memory` are two. A reason that is only a text gets the code
   * `Other`, or `PluginFailed` if the status is an Error.
   */
  constructor(
    code: StatusCode,
    reasons: string | RejectionReason | readonly (string | RejectionReason)[],
    plugin = '',
    cause?: unknown,
  ) {
    const given = typeof reasons === 'string' || 'text' in reasons ? [reasons] : reasons;
    const known = given.length === 0 ? ['no reason given'] : given;
    this.code = code;
    this.details = known.map((reason) =>
      typeof reason === 'string' ? { text: reason, code: code === 'Error' ? 'PluginFailed' : 'Other' } : reason,
    );
    this.reasons = this.details.map(({ text }) => text);
    this.plugin = plugin;
    this.cause = cause;
  }

  /** All reasons, joined by commas. */
  get message(): string {
    return this.reasons.join(', ');
  }

  from(plugin: string): Status {
    return this.plugin === plugin ? this : new Status(this.code, this.details, plugin, this.cause);
  }
}

export const skip = new Status('Skip', '');
