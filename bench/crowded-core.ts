import type { Clock } from '../src/base/clock.ts';
import { seededRandom } from '../src/base/random.ts';
import type { Gang } from '../src/cluster/gang.ts';
import type { ReservationsConfiguration } from '../src/config/scheduler-configuration.ts';
import type { Plugin } from '../src/framework/plugin.ts';
import { defaultPlugins, pluginRegistry } from '../src/plugins/registry.ts';
import { gangSpecOf } from '../src/scheduler/intake/pod-group-adapter.ts';
import type { SchedulerCore } from '../src/scheduler/scheduler-core.ts';
import { Builders } from '../src/testkit/builders/builders.ts';
import type { PodOptions } from '../src/testkit/builders/pod.ts';
import { benchCore } from './bench-core.ts';

const nodeCount = 5000;
const podsPerNode = 4;

export interface CrowdedCoreOptions {
  /** Plugins besides the default ones. */
  readonly plugins?: readonly Plugin[];
  /** Absent: no reservations with a predicted start. */
  readonly reservations?: ReservationsConfiguration;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** A SchedulerCore with the default plugins, on 5,000 nodes with 20,000 pods. Its writes never complete. */
export class CrowdedCore {
  readonly core: SchedulerCore;
  /** Number of Bindings sent. */
  bindings = 0;
  readonly #build: Builders;
  #serial = 0;

  constructor({ plugins: extra = [], reservations, clock }: CrowdedCoreOptions = {}) {
    const enabled = [...defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight })), ...extra];
    this.core = benchCore({
      clock,
      profiles: [
        { schedulerName: 'default-scheduler', plugins: enabled, ...(reservations !== undefined && { reservations }) },
      ],
      plugins: new Map([...pluginRegistry, ...extra.map((plugin) => [plugin.name, () => plugin] as const)]),
      ports: {
        binder: {
          bind: () => {
            this.bindings++;
            return new Promise(() => undefined);
          },
        },
      },
    });
    this.#build = new Builders({ resources: this.core.cluster.resources });
    this.#fill();
  }

  /** Adds a gang whose minMember is its size. */
  gang(size: number, member: (index: number) => PodOptions): Gang {
    const { handlers, cluster } = this.core;
    const name = `gang-${this.#serial++}`;
    const group = this.#build.projectedPodGroup({ name, minMember: size });
    handlers.podGroups.onAdd(gangSpecOf(group, this.#build.resources));
    for (let i = 0; i < size; i++) {
      handlers.pods.onAdd(this.#build.projectedPod({ name: `${name}-${i}`, group: name, ...member(i) }));
    }
    return cluster.gang(`default/${name}`)!;
  }

  /** Like `gang`, but returns a function that deletes the gang. */
  gangOf(size: number, member: (index: number) => PodOptions): () => void {
    const gang = this.gang(size, member);
    return () => this.remove(gang);
  }

  /** Adds a single pod. Returns a function that deletes it. */
  lone(options: PodOptions): () => void {
    const { handlers, cluster } = this.core;
    const pod = this.#build.projectedPod({ ...options, name: `lone-${this.#serial++}` });
    handlers.pods.onAdd(pod);
    return () => handlers.pods.onDelete(cluster.pod(pod.uid)!, false);
  }

  /** Adds one pod to each node for which `options` returns one. */
  onEachNode(options: (index: number) => PodOptions | undefined): void {
    for (let i = 0; i < nodeCount; i++) {
      const more = options(i);
      if (more === undefined) continue;
      const pod = this.#build.projectedPod({ ...more, name: `more-${i}`, nodeName: `node-${i}` });
      this.core.handlers.pods.onAdd(pod);
    }
  }

  /** Reserves capacity on each of the first nodes for one pod of another scheduler. */
  reserve(count: number, options: PodOptions): void {
    for (let i = 0; i < count; i++) {
      const nominated = { name: `nominated-${i}`, nominatedNodeName: `node-${i}`, schedulerName: 'other' };
      this.core.handlers.pods.onAdd(this.#build.projectedPod({ ...options, ...nominated }));
    }
  }

  /** Deletes a gang and its members. */
  remove({ spec, members }: Gang): void {
    const { handlers } = this.core;
    if (spec !== undefined) handlers.podGroups.onDelete(spec, false);
    for (const pod of [...members.values()]) handlers.pods.onDelete(pod, false);
  }

  #fill(): void {
    const random = seededRandom(1);
    const { handlers } = this.core;
    for (let i = 0; i < nodeCount; i++) {
      handlers.nodes.onAdd(
        this.#build.projectedNode({
          name: `node-${i}`,
          cpu: 32,
          memory: '128Gi',
          pods: 110,
          labels: {
            'kubernetes.io/hostname': `node-${i}`,
            'topology.kubernetes.io/zone': `zone-${i % 3}`,
            pool: `p${i % 10}`,
          },
          taints: i % 10 === 0 ? ['dedicated=ml:NoSchedule'] : i % 7 === 0 ? ['slow=yes:PreferNoSchedule'] : [],
        }),
      );
      for (let p = 0; p < podsPerNode; p++) {
        const cpu = `${500 + Math.floor(random() * 3000)}m`;
        handlers.pods.onAdd(
          this.#build.projectedPod({ name: `old-${i}-${p}`, cpu, memory: '4Gi', nodeName: `node-${i}` }),
        );
      }
    }
  }
}
