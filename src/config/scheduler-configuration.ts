import type { EnabledPlugin } from '../framework/profile.ts';
import { defaultPlugins } from '../plugins/registry.ts';

/** One profile: the plugins for the pods that name this scheduler. */
export interface ProfileConfiguration {
  /** What pods say in spec.schedulerName. */
  readonly schedulerName: string;
  /** In order. */
  readonly plugins: readonly EnabledPlugin[];
}

/** How a scheduler process is configured, in the words of a KubeSchedulerConfiguration. */
export interface SchedulerConfiguration {
  /** At least one, each with a schedulerName of its own. */
  readonly profiles: readonly ProfileConfiguration[];
  readonly clientConnection: {
    /** Calls a second in the long run. */
    readonly qps: number;
    /** Calls at once. */
    readonly burst: number;
  };
}

/** The plugins of a profile that says nothing about them. */
export function defaultProfile(schedulerName: string): ProfileConfiguration {
  return { schedulerName, plugins: defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight })) };
}
