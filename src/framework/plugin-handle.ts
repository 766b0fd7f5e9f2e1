import type { Clock } from '../base/clock.ts';
import type { Pod } from '../api/pod.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { Gang } from '../cluster/gang.ts';
import type { WaitingPods } from './waiting-pods.ts';

/** Who writes a Binding; answers when the API server has accepted it, rejects with a typed client error otherwise. */
export interface PodBinder {
  bind(binding: PodBinding, signal: AbortSignal): Promise<void>;
}

export interface PodBinding {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  /** Merged into the pod by the API server in the same write. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The read side of the cluster, as plugins see it. */
export interface ClusterLister {
  readonly nodes: readonly NodeInfo[];
  readonly resources: Cluster['resources'];
  node(name: string): NodeInfo | undefined;
  /** The node that the pod is bound to or assumed on. */
  nodeOf(pod: Pod): NodeInfo | undefined;
  gang(key: string): Gang | undefined;
}

/** What a plugin may use beside its arguments. */
export interface PluginHandle {
  /** The profile's name: pods of other schedulers are not ours to place. */
  readonly schedulerName: string;
  readonly clock: Clock;
  readonly cluster: ClusterLister;
  readonly waitingPods: WaitingPods;
  readonly binder: PodBinder;
}
