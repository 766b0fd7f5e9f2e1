import type { Plugin } from './plugin.ts';

/** Returns whether the plugin implements kube-scheduler's PreFilterExtensions. It must have both: with only one, its state would drift. */
export function hasPreFilterExtensions(plugin: Plugin): boolean {
  return plugin.preFilterAddPod !== undefined && plugin.preFilterRemovePod !== undefined;
}
