import { Builders } from './builders/builders.ts';
import type { NodeOptions } from './builders/node.ts';
import type { PodGroupOptions } from './builders/pod-group.ts';
import type { PodOptions } from './builders/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Gang } from '../cluster/gang.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { Plugin, PluginFactory } from '../framework/plugin.ts';
import type { PodBinder } from '../framework/plugin-handle.ts';
import type { EnabledPlugin, Profile } from '../framework/profile.ts';
import type { WaitingPods } from '../framework/waiting-pods.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { Planner } from '../scheduler/placement/planning/planner.ts';
import { gangSpecOf } from '../scheduler/intake/pod-group-adapter.ts';
import type { PodEvictor, RequestTerms, SchedulerPorts } from '../scheduler/ports.ts';
import { SchedulerCore } from '../scheduler/scheduler-core.ts';
import type { SchedulerCoreOptions } from '../scheduler/scheduler-core.ts';

export interface CoreHarnessOptions {
  /** Plugins to enable, before those of the test. */
  readonly plugins: readonly { readonly name: string; readonly factory: PluginFactory; readonly weight?: number }[];
  /** Plugins of the test, with a weight if they score. */
  readonly extra?: readonly (Plugin & { readonly weight?: number })[];
  /** schedulerName -> predicate for the plugins of its profile. Default: one profile, `default-scheduler`, with all plugins. */
  readonly profiles?: Readonly<Record<string, (plugin: EnabledPlugin) => boolean>>;
  readonly binder?: PodBinder;
  readonly backoff?: BackoffPolicy;
  /** Ports that replace the recording ones. */
  readonly ports?: Partial<Omit<SchedulerPorts, 'binder' | 'evictor'>> & { readonly evictor?: Partial<PodEvictor> };
  readonly seed?: number;
  /** See SchedulerCoreOptions. */
  readonly workAtATime?: number;
  /** Replaces all plugins and profiles above. */
  readonly setup?: Pick<SchedulerCoreOptions, 'profiles' | 'plugins'>;
  /** Default: records warnings. */
  readonly logger?: Logger;
}

/** A verdict of a pod. `since` is the time of the virtual clock when it was reported. */
export interface Written {
  readonly name: string;
  readonly verdict: Verdict;
  readonly since: number;
}

/**
 * A SchedulerCore that has not started, with a virtual clock and short methods that fill its cluster. It records what the core writes, so
 * that tests can inspect it.
 */
export class CoreHarness {
  readonly clock = new VirtualClock();
  readonly core: SchedulerCore;
  readonly build: Builders;
  readonly cluster: Cluster;
  readonly waitingPods: WaitingPods;
  /** The first profile. */
  readonly profile: Profile;
  /** A planner like the core's, with its own random numbers. */
  readonly planner: Planner;
  /** Verdicts written to pods, in order. */
  readonly written: Written[] = [];
  /** `reason name`, in order. */
  readonly events: string[] = [];
  /** `name for default/x` for each pod that a preemption has chosen, when it asks for the mark, in order. */
  readonly preempted: string[] = [];
  /** Names of the pods that a preemption has deleted, in order. */
  readonly evicted: string[] = [];
  /** `+name` for each pod that got the mark of a preemption, `-name` for each that lost it, in order. */
  readonly marks: string[] = [];
  /** Names of the pods whose groups were released, in order. */
  readonly released: string[] = [];
  /** Logged warnings, in order. */
  readonly warnings: string[] = [];
  readonly registry = createMetricRegistry({ processMetrics: false });
  /** Number of times that the core requested an attempt. */
  asked = 0;

  constructor(options: CoreHarnessOptions) {
    const { binder = noBinder, backoff, ports = {}, seed = 1 } = options;
    const recording = this.#ports();
    this.core = new SchedulerCore({
      ...(options.setup ?? setupOf(options)),
      ...(backoff !== undefined && { backoff }),
      ...(options.workAtATime !== undefined && { workAtATime: options.workAtATime }),
      ports: { ...recording, ...ports, binder, evictor: { ...recording.evictor, ...ports.evictor } },
      clock: this.clock,
      random: seededRandom(seed),
      logger: options.logger ?? { ...silentLogger, warn: (message) => void this.warnings.push(message) },
      registry: this.registry,
      identity: 'test',
      defer: (callback) => void setImmediate(callback),
      onReady: () => this.asked++,
    });
    this.cluster = this.core.cluster;
    this.waitingPods = this.core.waitingPods;
    this.profile = this.core.profiles.first;
    this.build = new Builders({ resources: this.cluster.resources });
    this.planner = new Planner(this.cluster, seededRandom(seed));
  }

  node(options: NodeOptions): NodeInfo {
    const node = this.build.projectedNode(options);
    this.cluster.setNode(node);
    return this.cluster.node(node.name)!;
  }

  pod(options: PodOptions = {}): Pod {
    const pod = this.build.projectedPod(options);
    this.cluster.setPod(pod);
    return pod;
  }

  pods(count: number, options: PodOptions = {}): Pod[] {
    const pods = this.build.projectedPods(count, options);
    for (const pod of pods) this.cluster.setPod(pod);
    return pods;
  }

  group(options: PodGroupOptions): Gang {
    const spec = gangSpecOf(this.build.projectedPodGroup(options), this.build.resources);
    this.cluster.setGang(spec);
    return this.cluster.gang(spec.key)!;
  }

  /** Written verdicts as `name message`, in order. */
  get verdicts(): readonly string[] {
    return this.written.map(({ name, verdict }) => `${name} ${verdict.message}`);
  }

  /** Returns the pods and requested amounts of each node, to compare states. */
  capacities(): unknown {
    return this.cluster.nodes.map(({ name, generation, pods, requested }) => {
      return { name, generation, pods: [...pods.keys()], requested: requested.entries().map(([, amount]) => amount) };
    });
  }

  /** Sends a request at once, unless it is withdrawn. */
  #request<T>(send: () => T, { mayBeSent, signal }: RequestTerms): Promise<T> {
    return Promise.resolve().then(() => {
      signal.throwIfAborted();
      mayBeSent();
      return send();
    });
  }

  #ports(): Omit<SchedulerPorts, 'binder'> {
    return {
      verdicts: {
        write: (pod, verdict, { since }) => {
          this.written.push({ name: pod.name, verdict, since });
          return Promise.resolve('written');
        },
      },
      events: { record: ({ reason, regarding }) => void this.events.push(`${reason} ${regarding.name}`) },
      evictor: {
        mark: (pod, message, terms) => {
          this.preempted.push(`${pod.name} for ${/\((.*)\)/.exec(message)![1]!}`);
          return this.#request(() => (this.marks.push(`+${pod.name}`), true), terms);
        },
        unmark: (pod, _message, terms) => this.#request(() => void this.marks.push(`-${pod.name}`), terms),
        evict: (pod, terms) => this.#request(() => void this.evicted.push(pod.name), terms),
        release: (pod) => {
          this.released.push(pod.name);
          return Promise.resolve('going');
        },
      },
      volumes: {
        bind: () => Promise.reject(new Error('this test writes no volumes')),
        provision: () => Promise.reject(new Error('this test writes no volumes')),
      },
    };
  }
}

const noBinder: PodBinder = { bind: () => Promise.reject(new Error('this test binds nothing')) };

function setupOf({ plugins, extra = [], profiles }: CoreHarnessOptions): NonNullable<CoreHarnessOptions['setup']> {
  const all = [...plugins, ...extra.map((plugin) => ({ ...factoryOf(plugin), weight: plugin.weight ?? 1 }))];
  const enabled = all.map(({ name, weight = 1 }) => ({ name, weight }));
  const wanted = Object.entries(profiles ?? { 'default-scheduler': () => true });
  return {
    profiles: wanted.map(([schedulerName, has]) => ({ schedulerName, plugins: enabled.filter(has) })),
    plugins: new Map(all.map(({ name, factory }) => [name, factory])),
  };
}

function factoryOf(plugin: Plugin & { readonly weight?: number }): {
  readonly name: string;
  readonly factory: PluginFactory;
} {
  const { weight, ...points } = plugin;
  return { name: plugin.name, factory: () => (weight === undefined ? plugin : points) };
}
