import type { Plugin } from './plugin.ts';

/** It keeps what PreFilter computed up to date along a plan; a half of that would drift. */
export function keepsUp(plugin: Plugin): boolean {
  return plugin.preFilterAddPod !== undefined && plugin.preFilterRemovePod !== undefined;
}
