import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/base/random.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { EventRecorder } from '../../src/client/event-recorder.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { defaultConfiguration, defaultProfile } from '../../src/config/scheduler-configuration.ts';
import { createMetricRegistry } from '../../src/observability/metric-registry.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { pluginRegistry } from '../../src/plugins/registry.ts';
import { ApiPodBinder } from '../../src/scheduler/api/api-pod-binder.ts';
import { ApiPodEvictor } from '../../src/scheduler/api/api-pod-evictor.ts';
import { ApiVerdictSink } from '../../src/scheduler/api/api-verdict-sink.ts';
import { ApiVolumeWriter } from '../../src/scheduler/api/api-volume-writer.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { ForgetfulServer } from './forgetful-server.ts';
import type { StoredObject } from './forgetful-server.ts';

const schedulerName = 'tutti';
/** Number of unique resource names of a pod that invents names. */
const namesOfOne = 300;
/** Minimum and maximum lifetime of odd objects, in seconds. */
const shortest = 20;
const longest = 240;
/** Number of pods about which the scheduler may keep something. */
const ordinaryPods = 80;

interface PodOptions {
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly nodeName?: string;
  readonly rules?: object;
}

/** Number of things that a scheduler keeps. */
export interface Kept {
  readonly bindings: number;
  /** Objects on the server. */
  readonly objects: number;
  readonly resourceNames: number;
  readonly pods: number;
  readonly metricLines: number;
}

/**
 * A whole scheduler on a virtual clock, with a server where a few pods, groups and nodes come and go each second. They have unique names of
 * resources, labels, taints, ports and namespaces: everything that a user who may create pods can invent.
 */
export class OddPods {
  readonly #clock = new VirtualClock();
  readonly #random: Random;
  readonly #server = new ForgetfulServer();
  readonly #scheduler: Scheduler;
  readonly #registry = createMetricRegistry({ processMetrics: false });
  readonly #events: EventRecorder;
  /** second -> deletions that are due then */
  readonly #ends = new Map<number, (() => void)[]>();
  #second = 0;
  #made = 0;

  /** Seconds for which nodes come and go; after that they stay. */
  readonly #nodesComeFor: number;

  constructor(seed: number, nodesComeFor = Infinity) {
    this.#nodesComeFor = nodesComeFor;
    const random = seededRandom(seed);
    this.#random = random;
    const clock = this.#clock;
    const client = new KubeClient({ transport: this.#server, clock });
    const { podBackoff } = defaultConfiguration();
    this.#events = new EventRecorder({ client, clock, reportingController: schedulerName, reportingInstance: 'odd' });
    this.#scheduler = new Scheduler({
      client,
      ports: {
        binder: new ApiPodBinder({ client, clock, random, logger: silentLogger }),
        verdicts: new ApiVerdictSink({ client, clock, random }),
        events: this.#events,
        evictor: new ApiPodEvictor({ client, clock, random }),
        volumes: new ApiVolumeWriter({ client, clock, random }),
      },
      clock,
      random,
      logger: silentLogger,
      registry: this.#registry,
      profiles: [defaultProfile(schedulerName)],
      backoff: podBackoff,
      plugins: pluginRegistry,
      identity: 'odd',
      defer: (callback) => void setImmediate(callback),
    });
    for (let i = 0; i < 20; i++) this.#server.put(this.#node(`node-${i}`, {}));
  }

  async start(): Promise<void> {
    const started = this.#scheduler.start();
    for (let i = 0; i < 50; i++) await turn();
    await started;
  }

  async run(seconds: number): Promise<void> {
    for (const until = this.#second + seconds; this.#second < until;) {
      this.#second++;
      for (const end of this.#ends.get(this.#second) ?? []) end();
      this.#ends.delete(this.#second);
      this.#comes();
      if (this.#second % 50 === 0) this.#server.bookmark();
      this.#clock.advance(1_000);
      for (let i = 0; i < 4; i++) await turn();
    }
  }

  /**
   * Waits until all odd objects are gone. Then ordinary pods come and go, so that whatever the scheduler keeps about its latest pods is
   * about those.
   */
  async calm(): Promise<void> {
    const due = [...this.#ends.entries()].sort(([a], [b]) => a - b);
    for (const [, ends] of due) for (const end of ends) end();
    this.#ends.clear();
    await this.#wait(400);
    for (let i = 0; i < ordinaryPods; i++) {
      const name = `ordinary-${i}`;
      this.#server.put(podObject(name, { namespace: 'default', requests: { cpu: `${i + 1}m` } }));
      await this.#wait(1);
      this.#server.delete('Pod', 'default', name);
    }
    await this.#wait(400);
  }

  async #wait(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      if (second % 50 === 0) this.#server.bookmark();
      this.#clock.advance(1_000);
      for (let i = 0; i < 4; i++) await turn();
    }
  }

  get kept(): Promise<Kept> {
    const { cluster } = this.#scheduler.state;
    return this.#registry.metrics().then((text) => ({
      bindings: this.#server.bindings,
      objects: this.#server.size,
      resourceNames: cluster.resources.size,
      pods: cluster.podCount,
      metricLines: text.split('\n').length,
    }));
  }

  async stop(): Promise<void> {
    this.#events.stop();
    const stopped = this.#scheduler.stop({ drainMs: 0 });
    for (let i = 0; i < 20; i++) {
      this.#clock.advance(1_000);
      await turn();
    }
    await stopped;
    await this.#server.close();
  }

  #comes(): void {
    const dice = Math.floor(this.#random() * 10);
    const id = ++this.#made;
    const namespace = dice % 2 === 0 ? 'default' : `team-${id}`;
    const labels = { [`example.com/label-${id}`]: `value-${id}` };
    if (dice < 2) this.#pod(`names-${id}`, { namespace, requests: madeUp(id, namesOfOne) });
    else if (dice < 4) this.#pod(`plain-${id}`, { namespace, labels, requests: { cpu: `${id % 700}m` } });
    else if (dice === 4)
      this.#pod(`elsewhere-${id}`, { namespace, nodeName: `node-${id % 20}`, requests: madeUp(id, 30) });
    else if (dice === 5) this.#pod(`lost-${id}`, { namespace, nodeName: `nowhere-${id}`, requests: madeUp(id, 30) });
    else if (dice === 6) this.#gang(id, namespace, labels);
    else if (dice === 7 && this.#second < this.#nodesComeFor) this.#comingNode(id);
    else if (dice === 8) this.#pod(`says-${id}`, { namespace, labels, rules: oddConstraint(id) });
    else this.#pod(`late-${id}`, { namespace, labels: { 'scheduling.x-k8s.io/pod-group': `absent-${id}` } });
  }

  #gang(id: number, namespace: string, labels: Readonly<Record<string, string>>): void {
    const name = `gang-${id}`;
    const spec = { minMember: 3, minResources: id % 3 === 0 ? madeUp(id, 20) : {} };
    this.#put({ kind: 'PodGroup', metadata: { namespace, name }, spec });
    const own = { ...labels, 'scheduling.x-k8s.io/pod-group': name };
    for (let i = 0; i < 3; i++) {
      this.#pod(`${name}-${i}`, { namespace, labels: own, requests: id % 2 === 0 ? { cpu: '1' } : madeUp(id, 10) });
    }
  }

  #comingNode(id: number): void {
    const device = { [`example.com/device-${id}`]: '4' };
    this.#put(this.#node(`coming-${id}`, device, { [`example.com/zone-${id}`]: `z-${id}` }));
    this.#pod(`on-device-${id}`, { namespace: 'default', requests: { [`example.com/device-${id}`]: '1' } });
  }

  #pod(name: string, options: PodOptions): void {
    this.#put(podObject(name, options));
  }

  /** Creates the object and deletes it after a while. */
  #put(object: StoredObject): void {
    this.#server.put(object);
    const second = this.#second + shortest + Math.floor(this.#random() * (longest - shortest));
    const { kind, metadata } = object;
    const end = (): void => this.#server.delete(kind, metadata.namespace, metadata.name);
    const ends = this.#ends.get(second);
    if (ends === undefined) this.#ends.set(second, [end]);
    else ends.push(end);
  }

  #node(
    name: string,
    devices: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>> = {},
  ): StoredObject {
    const allocatable = { cpu: '16', memory: '64Gi', pods: '110', ...devices };
    return { kind: 'Node', metadata: { name, labels }, spec: {}, status: { allocatable } };
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function podObject(
  name: string,
  { namespace, labels = {}, requests = { cpu: '10m' }, nodeName, rules = {} }: PodOptions,
): StoredObject {
  return {
    kind: 'Pod',
    metadata: { namespace, name, labels },
    spec: {
      schedulerName: nodeName === undefined ? schedulerName : 'another',
      ...(nodeName !== undefined && { nodeName }),
      containers: [{ name: 'main', resources: { requests } }],
      ...rules,
    },
    status: { phase: 'Pending' },
  };
}

/** Returns unique resource names. */
function madeUp(id: number, count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`example.com/made-up-${id}-${i}`, '1']));
}

/** Returns a unique constraint on nodes or other pods. */
function oddConstraint(id: number): object {
  const labelSelector = { matchLabels: { [`example.com/label-${id}`]: `value-${id}` } };
  const term = { labelSelector, namespaces: [`team-${id}`], topologyKey: `example.com/zone-${id % 50}` };
  const kinds = [
    { nodeSelector: { [`example.com/zone-${id}`]: 'no' } },
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: `example.com/zone-${id}`, whenUnsatisfiable: 'ScheduleAnyway', labelSelector },
      ],
    },
    { tolerations: [{ key: `example.com/taint-${id}`, operator: 'Exists' }] },
    { schedulingGates: [{ name: `example.com/gate-${id}` }] },
    { priority: id },
  ];
  return kinds[id % kinds.length]!;
}
