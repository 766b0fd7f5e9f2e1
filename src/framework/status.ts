/**
 * Why a plugin did not simply agree. Success is `undefined`, so that the hot loop allocates nothing.
 * - `Unschedulable`: not now; a change of the cluster, or preemption, may help.
 * - `UnschedulableAndUnresolvable`: not now, and preemption cannot help.
 * - `Pending`: decided, but somebody outside must act first; retried without back-off.
 * - `Skip`: from PreFilter, PreScore and Bind: the plugin has nothing to do for this pod in this cycle.
 * - `Error`: something went wrong that is not the cluster's state; retried with the error back-off.
 */
export type StatusCode = 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Skip' | 'Error';

/** Immutable; plugins keep the ones that they return often as constants. */
export class Status {
  readonly code: StatusCode;
  /** For users; one short phrase, without a full stop. */
  readonly reason: string;
  /** Name of the plugin that answered; the runner fills it in where the plugin did not. */
  readonly plugin: string;
  readonly cause: unknown;

  constructor(code: StatusCode, reason: string, plugin = '', cause?: unknown) {
    this.code = code;
    this.reason = reason;
    this.plugin = plugin;
    this.cause = cause;
  }

  /** The pod is turned away (rather than skipped, or failed). */
  get isRejection(): boolean {
    return this.code !== 'Skip' && this.code !== 'Error';
  }

  from(plugin: string): Status {
    return this.plugin === plugin ? this : new Status(this.code, this.reason, plugin, this.cause);
  }
}

export const skip = new Status('Skip', '');
