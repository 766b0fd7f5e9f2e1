import type { Diagnosis } from '../../../framework/diagnosis.ts';

/** Which plugins turned pods away, gathered over many rejections. */
export class UnschedulablePluginSet {
  readonly unschedulablePlugins = new Set<string>();
  /** Of these, those that answered Pending to any. */
  readonly pending = new Set<string>();

  add({ plugins, pending }: Pick<Diagnosis, 'plugins' | 'pending'>): void {
    for (const name of plugins) this.unschedulablePlugins.add(name);
    if (pending !== undefined) for (const name of pending) this.pending.add(name);
  }
}
