import type { Signals } from './process-group.ts';

/** Requests to the supervisor of a plane's processes. */
export type SupervisorRequest =
  | { readonly kind: 'start'; readonly name: string; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'signal'; readonly name: string; readonly signal: Signals };

/** Messages from the supervisor. */
export type SupervisorAnswer =
  /** The folder exists. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'started'; readonly name: string; readonly pid: number }
  /** The process has ended, or could not be started. */
  | { readonly kind: 'exited'; readonly name: string; readonly how: string };
