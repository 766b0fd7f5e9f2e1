import type { Signals } from './process-group.ts';

/** What the supervisor of a plane's processes is told. */
export type SupervisorRequest =
  | { readonly kind: 'start'; readonly name: string; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'signal'; readonly name: string; readonly signal: Signals };

/** What it tells. */
export type SupervisorAnswer =
  /** The folder is there. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'started'; readonly name: string; readonly pid: number }
  /** It runs no more, or could not be started. */
  | { readonly kind: 'exited'; readonly name: string; readonly how: string };
