import type { Diagnosis } from '../../../framework/diagnosis.ts';

/** The plugins that rejected pods, collected over many rejections. */
export class UnschedulablePluginSet {
  readonly unschedulablePlugins = new Set<string>();
  /** The plugins among them that returned Pending for any pod. */
  readonly pending = new Set<string>();

  add({ plugins, pending }: Pick<Diagnosis, 'plugins' | 'pending'>): void {
    for (const name of plugins) this.unschedulablePlugins.add(name);
    if (pending !== undefined) for (const name of pending) this.pending.add(name);
  }
}
