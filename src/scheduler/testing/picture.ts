import { Builders } from '../../../test/builders/builders.ts';
import type { NodeOptions } from '../../../test/builders/node.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { PodGroupOptions } from '../../../test/builders/pod-group.ts';
import type { PodOptions } from '../../../test/builders/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { seededRandom } from '../../base/random.ts';
import { VirtualClock } from '../../base/testing/virtual-clock.ts';
import { Cluster } from '../../cluster/cluster.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PluginHandle, PodBinder } from '../../framework/plugin-handle.ts';
import { Profile } from '../../framework/profile.ts';
import { Planner } from '../placement/planner.ts';
import { gangSpecOf } from '../pod-group-adapter.ts';

export interface PictureOptions {
  /** The plugins to enable, before those of the test. */
  readonly plugins: readonly { readonly name: string; readonly factory: PluginFactory; readonly weight?: number }[];
  /** Plugins made up by the test; a weight for those that score. */
  readonly extra?: readonly (Plugin & { readonly weight?: number })[];
  readonly binder?: PodBinder;
  readonly seed?: number;
}

/** A cluster picture with a profile and a planner over it, and short ways to say what is in the cluster. */
export class Picture {
  readonly build = new Builders();
  readonly clock = new VirtualClock();
  readonly cluster = new Cluster(this.build.resources);
  readonly handle: PluginHandle;
  readonly profile: Profile;
  readonly planner: Planner;

  constructor({ plugins, extra = [], binder, seed = 1 }: PictureOptions) {
    this.handle = pluginHandle(this.build, {
      cluster: this.cluster,
      clock: this.clock,
      ...(binder !== undefined && { binder }),
    });
    const all = [...plugins, ...extra.map((plugin) => ({ ...factoryOf(plugin), weight: plugin.weight ?? 1 }))];
    this.profile = new Profile({
      schedulerName: this.handle.schedulerName,
      enabled: all.map(({ name, weight = 1 }) => ({ name, weight })),
      registry: new Map(all.map(({ name, factory }) => [name, factory])),
      handle: this.handle,
    });
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

  /** What is on each node and how much of it is requested, to compare before and after. */
  rooms(): unknown {
    return this.cluster.nodes.map(({ name, generation, pods, requested }) => {
      return { name, generation, pods: [...pods.keys()], requested: requested.filter((amount) => amount !== 0) };
    });
  }
}

function factoryOf(plugin: Plugin): { readonly name: string; readonly factory: PluginFactory } {
  return { name: plugin.name, factory: () => plugin };
}
