/**
 * Why a plugin did not simply agree. Success is `undefined`, so that the hot loop allocates nothing.
 * - `Unschedulable`: not now; a change of the cluster, or preemption, may help.
 * - `UnschedulableAndUnresolvable`: not now, and preemption cannot help.
 * - `Skip`: from PreFilter, PreScore and Bind: the plugin has nothing to do for this pod in this cycle.
 * - `Pending`: not until somebody outside has done what this plugin has asked of it; preemption cannot help. Once an event that the
 *   plugin registered says that it is done, the entity is tried again at once, without back-off.
 * - `Error`: something went wrong that is not the cluster's state; retried with the error back-off.
 */
export type StatusCode = 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Skip' | 'Error';

/** Immutable; plugins keep the ones that they return often as constants. */
export class Status {
  /** PreFilter has nothing to do for this pod, whatever is placed in this attempt. */
  static readonly skipThroughout: Status = new Status('Skip', '');

  readonly code: StatusCode;
  /** For users; short phrases without a full stop. Each is counted for itself over the nodes. */
  readonly reasons: readonly string[];
  /** Name of the plugin that answered; the runner fills it in where the plugin did not. */
  readonly plugin: string;
  readonly cause: unknown;

  /** One reason, or several: `Insufficient cpu` and `Insufficient memory` are two. */
  constructor(code: StatusCode, reasons: string | readonly string[], plugin = '', cause?: unknown) {
    this.code = code;
    this.reasons = typeof reasons === 'string' ? [reasons] : reasons.length === 0 ? ['no reason was given'] : reasons;
    this.plugin = plugin;
    this.cause = cause;
  }

  /** All reasons in one phrase. */
  get message(): string {
    return this.reasons.join(', ');
  }

  from(plugin: string): Status {
    return this.plugin === plugin ? this : new Status(this.code, this.reasons, plugin, this.cause);
  }
}

export const skip = new Status('Skip', '');
