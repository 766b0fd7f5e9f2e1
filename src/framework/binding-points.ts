import type { Pod } from '../api/pod.ts';
import type { CycleState } from './cycle-state.ts';
import type { MadePlugins } from './make-plugins.ts';
import { readRejectionOrSkip } from './plugin-answers.ts';
import type { PluginCalls } from './plugin-calls.ts';
import { outcomeOf } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { Status } from './status.ts';

/** Runs the asynchronous points PreBind, Bind and PostBind. */
export class BindingPoints {
  readonly #at: Pick<MadePlugins['at'], 'preBind' | 'bind' | 'postBind'>;
  readonly #calls: PluginCalls;

  constructor(at: MadePlugins['at'], calls: PluginCalls) {
    this.#at = at;
    this.#calls = calls;
  }

  /** Returns whether a plugin has work to do before the pod is bound. A plugin that throws counts as having work. */
  needsPreBind(state: CycleState, pod: Pod, nodeName: string): boolean {
    return this.#at.preBind.some((plugin) => this.#hasWork(plugin, state, pod, nodeName));
  }

  async preBind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    const startedAt = this.#calls.begin();
    const status = await this.#preBind(state, pod, nodeName, signal);
    this.#calls.ran('PreBind', outcomeOf(status), startedAt);
    return status;
  }

  async bind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    const startedAt = this.#calls.begin();
    const status = await this.#bind(state, pod, nodeName, signal);
    this.#calls.ran('Bind', outcomeOf(status), startedAt);
    return status;
  }

  postBind(state: CycleState, pod: Pod, nodeName: string): void {
    if (this.#at.postBind.length === 0) return;
    const startedAt = this.#calls.begin();
    for (const plugin of this.#at.postBind) {
      this.#calls.inform(plugin, 'PostBind', pod, () => plugin.postBind?.(state, pod, nodeName));
    }
    this.#calls.ran('PostBind', 'Success', startedAt);
  }

  async #preBind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    for (const plugin of this.#at.preBind) {
      if (!this.#hasWork(plugin, state, pod, nodeName)) continue;
      // Also aborts when this plugin exceeds its deadline.
      const late = new AbortController();
      const either = AbortSignal.any([signal, late.signal]);
      const run = (): Promise<Status | undefined> => plugin.preBind!(state, pod, nodeName, either);
      const status = await this.#calls.callAsync(plugin, 'PreBind', run, (error) => late.abort(error));
      if (status !== undefined && status.code !== 'Skip') return status.from(plugin.name);
    }
    return undefined;
  }

  async #bind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    for (const plugin of this.#at.bind) {
      const status = await this.#calls.callAsync(plugin, 'Bind', () => plugin.bind!(state, pod, nodeName, signal));
      if (status?.code !== 'Skip') return status?.from(plugin.name);
    }
    return new Status('Error', 'every Bind plugin skipped the pod');
  }

  #hasWork(plugin: Plugin, state: CycleState, pod: Pod, nodeName: string): boolean {
    if (plugin.preBindPreFlight === undefined) return true;
    const result = this.#calls.guarded(plugin, 'PreBindPreFlight', () =>
      readRejectionOrSkip(plugin.preBindPreFlight!(state, pod, nodeName)),
    );
    return result?.code !== 'Skip';
  }
}
