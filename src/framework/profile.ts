import type { Pod } from '../api/pod.ts';
import { UserError } from '../base/user-error.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Candidate, Plugin, PluginFactory, PostFilterResult, QueueKey } from './plugin.ts';
import type { PluginHandle } from './plugin-handle.ts';
import { Status } from './status.ts';

/** plugin name -> its factory */
export type PluginRegistry = ReadonlyMap<string, PluginFactory>;

/** One enabled plugin of a profile; order matters. */
export interface EnabledPlugin {
  readonly name: string;
  /** Multiplies the plugin's scores; at least 1. Default 1. */
  readonly weight?: number;
  readonly args?: unknown;
}

interface ScorePlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

/** PreFilter's answer for a pod: a refusal, or the nodes worth looking at (undefined: all). */
export type PreFilterAnswer =
  { readonly status: Status } | { readonly status: undefined; readonly nodeNames: ReadonlySet<string> | undefined };

/** What the Permit plugins together want: `waits` maps plugin -> milliseconds, empty when the pod may go on at once. */
export type PermitAnswer =
  { readonly status: Status } | { readonly status: undefined; readonly waits: ReadonlyMap<string, number> };

/** The configuration names something that cannot be; `message` says what and where. */
export class ProfileError extends UserError {
  override readonly name = 'ProfileError';
}

/**
 * The enabled plugins of one schedulerName, and how each point runs them. A plugin that throws answers Error, named; no
 * method here throws on a plugin's behalf.
 */
export class Profile {
  readonly schedulerName: string;
  readonly plugins: readonly Plugin[];
  /** Filters whose answers may be reused for a signature, in order. */
  readonly localFilters: readonly Plugin[];
  /** Filters that read other nodes or pods, in order. */
  readonly globalFilters: readonly Plugin[];
  readonly scorers: readonly ScorePlugin[];
  /** Some enabled plugin reads more than one node: where siblings are may decide where a member fits. */
  readonly readsOtherNodes: boolean;
  /** Name of the plugin that decides what a gang is; undefined: members of groups are lone pods. */
  readonly gangPolicy: string | undefined;
  readonly #signers: readonly Plugin[];
  readonly #queueSort: Plugin;

  constructor(options: {
    readonly schedulerName: string;
    readonly enabled: readonly EnabledPlugin[];
    readonly registry: PluginRegistry;
    readonly handle: PluginHandle;
  }) {
    this.schedulerName = options.schedulerName;
    const scorers: ScorePlugin[] = [];
    const names = new Set<string>();
    this.plugins = options.enabled.map(({ name, weight = 1, args }) => {
      if (names.has(name)) throw new ProfileError(`profile ${options.schedulerName}: plugin ${name} is enabled twice`);
      if (!(weight >= 1)) {
        throw new ProfileError(`profile ${options.schedulerName}: weight of ${name} must be at least 1, not ${weight}`);
      }
      names.add(name);
      const factory = options.registry.get(name);
      if (factory === undefined) {
        const known = [...options.registry.keys()].join(', ');
        throw new ProfileError(`profile ${options.schedulerName}: no plugin is called ${name}; known are ${known}`);
      }
      const plugin = factory(args, options.handle);
      if (plugin.score !== undefined) scorers.push({ plugin, weight });
      return plugin;
    });
    this.scorers = scorers;
    const filters = this.plugins.filter((plugin) => plugin.filter !== undefined);
    this.localFilters = filters.filter((plugin) => plugin.readsOtherNodes !== true);
    this.globalFilters = filters.filter((plugin) => plugin.readsOtherNodes === true);
    this.readsOtherNodes = this.plugins.some((plugin) => plugin.readsOtherNodes === true);
    this.gangPolicy = this.plugins.find((plugin) => plugin.decidesGangs === true)?.name;
    this.#signers = this.plugins.filter((plugin) => plugin.filter !== undefined || plugin.score !== undefined);
    this.#queueSort = this.#exactlyOne('compare');
    if (!this.plugins.some((plugin) => plugin.bind !== undefined)) {
      throw new ProfileError(`profile ${options.schedulerName}: no enabled plugin binds; enable DefaultBinder`);
    }
  }

  /** The pod's key for reusing node-local answers; undefined when some plugin's answers may not be reused. */
  signatureOf(pod: Pod): string | undefined {
    let signature = '';
    for (const plugin of this.#signers) {
      if (plugin.readsOtherNodes === true) continue;
      const fragment = plugin.sign?.(pod);
      if (fragment === undefined) return undefined;
      signature += fragment + '\n';
    }
    return signature;
  }

  compare(a: QueueKey, b: QueueKey): number {
    return this.#queueSort.compare!(a, b);
  }

  preEnqueue(candidate: Candidate): Status | undefined {
    for (const plugin of this.plugins) {
      if (plugin.preEnqueue === undefined) continue;
      const status = guarded(plugin, 'PreEnqueue', () => plugin.preEnqueue!(candidate));
      if (status !== undefined) return status.from(plugin.name);
    }
    return undefined;
  }

  preFilter(state: CycleState, pod: Pod): PreFilterAnswer {
    let nodeNames: ReadonlySet<string> | undefined;
    for (const plugin of this.plugins) {
      if (plugin.preFilter === undefined) continue;
      const answer = guarded(plugin, 'PreFilter', () => plugin.preFilter!(state, pod));
      if (answer === undefined) continue;
      if (!(answer instanceof Status)) {
        const { nodeNames: more } = answer;
        nodeNames = nodeNames === undefined ? more : new Set([...more].filter((name) => nodeNames!.has(name)));
      } else if (answer.code === 'Skip') {
        state.skippedFilters.add(plugin.name);
      } else {
        return { status: answer.from(plugin.name) };
      }
    }
    return { status: undefined, nodeNames };
  }

  /** Runs the given filters on one node; the first refusal stands. The hot loop: allocates nothing. */
  filter(filters: readonly Plugin[], state: CycleState, pod: Pod, node: NodeInfo): Status | undefined {
    const skips = state.skippedFilters.size > 0;
    for (let i = 0; i < filters.length; i++) {
      const plugin = filters[i]!;
      if (skips && state.skippedFilters.has(plugin.name)) continue;
      let status: Status | undefined;
      try {
        status = plugin.filter!(state, pod, node);
      } catch (error) {
        return failed(plugin, 'Filter', error);
      }
      if (status !== undefined) return status.from(plugin.name);
    }
    return undefined;
  }

  preScore(state: CycleState, pod: Pod, feasible: () => readonly NodeInfo[]): Status | undefined {
    for (const { plugin } of this.scorers) {
      if (plugin.preScore === undefined) continue;
      const status = guarded(plugin, 'PreScore', () => plugin.preScore!(state, pod, feasible));
      if (status === undefined) continue;
      if (status.code !== 'Skip') return status.from(plugin.name);
      state.skippedScores.add(plugin.name);
    }
    return undefined;
  }

  postFilter(candidate: Candidate, diagnosis: Diagnosis): PostFilterResult | undefined {
    for (const plugin of this.plugins) {
      if (plugin.postFilter === undefined) continue;
      const result = guarded(plugin, 'PostFilter', () => plugin.postFilter!(candidate, diagnosis));
      if (result === undefined) continue;
      return result instanceof Status ? { message: result.reason } : result;
    }
    return undefined;
  }

  reserve(state: CycleState, pod: Pod, node: NodeInfo): Status | undefined {
    for (const plugin of this.plugins) {
      if (plugin.reserve === undefined) continue;
      const status = guarded(plugin, 'Reserve', () => plugin.reserve!(state, pod, node));
      if (status !== undefined) return status.from(plugin.name);
    }
    return undefined;
  }

  /** In reverse plugin order. What a plugin throws here is dropped: there is nothing left to undo. */
  unreserve(state: CycleState, pod: Pod, nodeName: string): void {
    for (const plugin of this.plugins.toReversed()) {
      guarded(plugin, 'Unreserve', () => {
        plugin.unreserve?.(state, pod, nodeName);
        return undefined;
      });
    }
  }

  /** Asks every Permit plugin, also when one already wants to wait. */
  permit(state: CycleState, pod: Pod, nodeName: string): PermitAnswer {
    const waits = new Map<string, number>();
    for (const plugin of this.plugins) {
      if (plugin.permit === undefined) continue;
      const answer = guarded(plugin, 'Permit', () => plugin.permit!(state, pod, nodeName));
      if (answer === undefined) continue;
      if (answer instanceof Status) return { status: answer.from(plugin.name) };
      waits.set(plugin.name, answer.waitMs);
    }
    return { status: undefined, waits };
  }

  /** Some plugin has work to do before the pod is bound. */
  get hasPreBind(): boolean {
    return this.plugins.some((plugin) => plugin.preBind !== undefined);
  }

  async preBind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    for (const plugin of this.plugins) {
      if (plugin.preBind === undefined) continue;
      const status = await guardedAsync(plugin, 'PreBind', () => plugin.preBind!(state, pod, nodeName, signal));
      if (status !== undefined && status.code !== 'Skip') return status.from(plugin.name);
    }
    return undefined;
  }

  async bind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    for (const plugin of this.plugins) {
      if (plugin.bind === undefined) continue;
      const status = await guardedAsync(plugin, 'Bind', () => plugin.bind!(state, pod, nodeName, signal));
      if (status?.code !== 'Skip') return status?.from(plugin.name);
    }
    return new Status('Error', 'every Bind plugin skipped the pod');
  }

  postBind(state: CycleState, pod: Pod, nodeName: string): void {
    for (const plugin of this.plugins) {
      guarded(plugin, 'PostBind', () => {
        plugin.postBind?.(state, pod, nodeName);
        return undefined;
      });
    }
  }

  #exactlyOne(point: 'compare'): Plugin {
    const having = this.plugins.filter((plugin) => plugin[point] !== undefined);
    if (having.length !== 1) {
      const names = having.map((plugin) => plugin.name).join(', ') || 'none';
      throw new ProfileError(
        `profile ${this.schedulerName}: exactly one enabled plugin must sort the queue, but enabled is ${names}`,
      );
    }
    return having[0]!;
  }
}

function failed(plugin: Plugin, point: string, error: unknown): Status {
  const text = error instanceof Error ? error.message : String(error);
  return new Status('Error', `${plugin.name} failed in ${point}: ${text}`, plugin.name, error);
}

function guarded<T>(plugin: Plugin, point: string, run: () => T): T | Status {
  try {
    return run();
  } catch (error) {
    return failed(plugin, point, error);
  }
}

async function guardedAsync<T>(plugin: Plugin, point: string, run: () => Promise<T>): Promise<T | Status> {
  try {
    return await run();
  } catch (error) {
    return failed(plugin, point, error);
  }
}
