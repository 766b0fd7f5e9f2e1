import { randomUUID } from 'node:crypto';
import { groupKeyOf, parseGroupKey } from '../../src/api/group-key.ts';
import { nativeGroup, nativePodGroupPath, nativeVersions } from '../../src/api/native-pod-group.ts';
import type { NativeVersion } from '../../src/api/native-pod-group.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import type { BackoffPolicy } from '../../src/base/backoff.ts';
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { AlreadyExistsError, NotFoundError } from '../../src/client/api-errors.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import type { Endpoint } from '../../src/client/endpoint.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { runController } from '../../src/compose/controller.ts';
import { defaultConfiguration, defaultProfile, noLeaderElection } from '../../src/config/scheduler-configuration.ts';
import type { ReservationsConfiguration } from '../../src/config/scheduler-configuration.ts';
import { runScheduler } from '../../src/compose/scheduler.ts';
import type { OwnPlugin } from '../../src/plugins/own-plugin.ts';
import { nodeObject } from '../../src/plane/nodes/node-object.ts';
import type { SimulatedNodeSpec } from '../../src/plane/nodes/node-object.ts';
import { SimulatedNodes } from '../../src/plane/nodes/simulated-nodes.ts';
import type { PodGroupSpec } from '../../src/api/pod-group.ts';
import { ClusterRecord } from '../expect/cluster-record.ts';
import { expectBound } from '../expect/expect-bound.ts';
import { historyProblems } from '../expect/history-problems.ts';
import { ApiProxy } from '../planes/api-proxy.ts';
import type { ProcessAccount, TestPlane } from '../planes/plane.ts';
import { LogLines } from './log-lines.ts';
import { nativeGroupManifest } from './native-group-manifest.ts';
import type { NativeGroupSpec } from './native-group-manifest.ts';
import { neverPreempts, podManifest, priorities, schedulerName } from './pod-manifest.ts';
import type { PodOwner, PodSpec } from './pod-manifest.ts';

/**
 * One scenario's part of a plane: its namespace, its nodes, its processes, and the record of all that happens there. It uses only the API,
 * so that it runs on any plane. Scenarios on one plane run one after another.
 */
export class Stage {
  readonly plane: TestPlane;
  readonly client: KubeClient;
  readonly record: ClusterRecord;
  /** Log lines of the processes. */
  readonly logs = new LogLines();
  /** Default namespace of pods and groups. */
  readonly namespace: string;
  /** How long a group may be partially bound; scenarios that break Bindings allow more. */
  partialForMs = 10_000;
  /** The scenario makes nodes reject pods on purpose. */
  expectsRejections = false;
  /** The version in which it creates PodGroups of `scheduling.k8s.io`. */
  nativeVersion: NativeVersion = nativeVersions[0];
  /** A scheduler runs for its pods; `startScheduler` sets it. */
  schedules = false;
  /** Names of its nodes, in the order in which they were added. */
  readonly nodes: string[] = [];
  readonly #suffix = randomUUID().slice(0, 8);
  readonly #namespaces = new Set<string>();
  /** Keys of its PodGroups of `scheduling.k8s.io`. */
  readonly #nativeGroups = new Set<string>();
  /** Cleanup functions; run in reverse order. */
  readonly #started: (() => Promise<void>)[] = [];
  #marks = 0;

  private constructor(plane: TestPlane, record: ClusterRecord) {
    this.plane = plane;
    this.client = plane.client;
    this.record = record;
    this.namespace = `scenario-${this.#suffix}`;
  }

  static async open(plane: TestPlane): Promise<Stage> {
    const stage = new Stage(plane, await ClusterRecord.open(plane.client));
    try {
      await Promise.all(Object.entries(priorities).map(([name, value]) => stage.#createPriorityClass(name, value)));
      await stage.#createNamespace(stage.namespace);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  // Nodes

  /**
   * Adds Node objects without a kubelet: pods bound to them stay as the API shows them. Returns their names: the given ones with a suffix
   * of this stage.
   */
  async addNodes(...given: readonly SimulatedNodeSpec[]): Promise<string[]> {
    const specs = given.map((spec) => this.#ownNode(spec));
    for (const spec of specs) {
      await this.client.create('/api/v1/nodes', nodeObject(spec, '10.0.0.1', Date.now()));
    }
    await this.#admitPods(specs);
    return specs.map(({ name }) => name);
  }

  /** Adds simulated nodes that admit or reject pods and run them. Returns their names, as `addNodes` does. */
  async addSimulatedNodes(...given: readonly SimulatedNodeSpec[]): Promise<string[]> {
    const specs = given.map((spec) => this.#ownNode(spec));
    const nodes = new SimulatedNodes({
      transport: this.plane.transport,
      clock: systemClock,
      random: Math.random,
      nodes: specs,
      defaults: { startLatencyMs: 10, terminationMs: 10 },
    });
    this.#started.push(() => nodes.stop());
    await nodes.start();
    await this.#admitPods(specs);
    return specs.map(({ name }) => name);
  }

  /** Merges into the node's status, as its kubelet would. */
  async setNodeStatus(name: string, status: object): Promise<void> {
    await this.client.patch(`${nodePath(name)}/status`, 'merge', { status });
  }

  /** Changes the spec, as an administrator cordons or taints a node. */
  async setNodeSpec(name: string, spec: object): Promise<void> {
    await this.client.patch(nodePath(name), 'merge', { spec });
  }

  /** Deletes the Node object. */
  async removeNode(name: string): Promise<void> {
    await this.#delete(nodePath(name));
  }

  // Processes

  /** Starts a scheduler for the pods of this suite. With `through`, it reaches the server only through that proxy. */
  async startScheduler(
    options: {
      readonly through?: ApiProxy;
      /** plugin -> its arguments */
      readonly args?: Readonly<Record<string, object>>;
      /** Default: that of kube-scheduler. */
      readonly podBackoff?: BackoffPolicy;
      /** A plugin to enable as well. */
      readonly own?: OwnPlugin;
      /** Default: the process's real clock. */
      readonly clock?: Clock;
      /** Default: off. */
      readonly reservations?: ReservationsConfiguration;
    } = {},
  ): Promise<RunningProcess> {
    this.schedules = true;
    const profile = defaultProfile(schedulerName);
    const { own, reservations } = options;
    const plugins = [...profile.plugins, ...(own !== undefined ? [own] : [])].map(({ name, weight }) => {
      const plugin = { name, ...(weight !== undefined && { weight }) };
      const args = options.args?.[name];
      return args === undefined ? plugin : { ...plugin, args };
    });
    const process = await runScheduler({
      ...this.#address('scheduler', options.through?.endpoint),
      serving: { kind: 'local', port: 0 },
      configuration: defaultConfiguration({
        profiles: [{ ...profile, plugins, ...(reservations !== undefined && { reservations }) }],
        clientConnection: { qps: 0, burst: 1, kubeconfig: this.#accountOf('scheduler').kubeconfigPath },
        leaderElection: noLeaderElection,
        ...(options.podBackoff !== undefined && { podBackoff: options.podBackoff }),
      }),
      logger: this.logs,
      ...(own !== undefined && { plugins: [own] }),
      ...(options.clock !== undefined && { clock: options.clock }),
    });
    this.#started.push(() => process.stop());
    return process;
  }

  async startController(): Promise<RunningProcess> {
    const process = await runController({
      ...this.#address('controller'),
      serving: { kind: 'local', port: 0 },
      qps: 0,
      burst: 1,
      workers: 1,
      logger: this.logs,
    });
    this.#started.push(() => process.stop());
    return process;
  }

  /** Opens a proxy between a scheduler and the server, for injecting faults. */
  async openProxy(): Promise<ApiProxy> {
    const proxy = await ApiProxy.open(this.#accountOf('scheduler').transport);
    this.#started.push(() => proxy.cut());
    return proxy;
  }

  // Objects

  async addNamespace(): Promise<string> {
    const name = `scenario-${this.#suffix}-${this.#namespaces.size}`;
    await this.#createNamespace(name);
    return name;
  }

  /** Returns the group's key, namespace/name. */
  async createGroup(name: string, spec: PodGroupSpec, namespace: string = this.namespace): Promise<string> {
    await this.client.create(podGroupPath(namespace), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name, namespace },
      spec,
    });
    return `${namespace}/${name}`;
  }

  /** Creates a PodGroup of `scheduling.k8s.io` and returns its key, as `groupKeyOf` does. */
  async createNativeGroup(name: string, spec: NativeGroupSpec = {}): Promise<string> {
    const { namespace, nativeVersion } = this;
    const key = groupKeyOf(nativeGroup, namespace, name);
    await this.record.recordNativeGroups(nativeVersion);
    await this.client.create(
      nativePodGroupPath(nativeVersion, namespace),
      nativeGroupManifest(name, nativeVersion, spec),
    );
    this.#nativeGroups.add(key);
    return key;
  }

  async patchGroup(key: string, patch: object): Promise<void> {
    await this.client.patch(this.groupPath(key), 'merge', patch);
  }

  async deleteGroup(key: string): Promise<void> {
    // No controller removes the finalizer that protects a group while it has pods.
    if (this.#nativeGroups.delete(key)) await this.patchGroup(key, { metadata: { finalizers: null } });
    await this.client.delete(this.groupPath(key));
  }

  /** Returns the API path of a group by its key. */
  groupPath(key: string): string {
    const { source, namespace, name } = parseGroupKey(key);
    if (source === 'scheduling.x-k8s.io') return podGroupPath(namespace, name);
    return nativePodGroupPath(this.nativeVersion, namespace, name);
  }

  /** Creates an object that acts as the controller in `PodSpec.owner`: its pods count as recreated. */
  async createOwner(name: string): Promise<PodOwner> {
    const { namespace } = this;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } };
    const { metadata } = await this.client.create<{ readonly metadata: { readonly uid: string } }>(
      `/api/v1/namespaces/${namespace}/configmaps`,
      object,
    );
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid };
  }

  /** Returns the pod's key, namespace/name. */
  async createPod(name: string, spec: PodSpec = {}, namespace: string = this.namespace): Promise<string> {
    await this.client.create(`/api/v1/namespaces/${namespace}/pods`, podManifest(name, namespace, spec));
    return `${namespace}/${name}`;
  }

  /** Creates `<name>-0` to `<name>-<count - 1>`, one after another. */
  async createPods(name: string, count: number, spec: PodSpec = {}, namespace?: string): Promise<string[]> {
    const keys: string[] = [];
    for (let index = 0; index < count; index++) keys.push(await this.createPod(`${name}-${index}`, spec, namespace));
    return keys;
  }

  /** Sets the status as a kubelet would report it. */
  async setPodStatus(key: string, status: object): Promise<void> {
    await this.client.patch(`${podPath(key)}/status`, 'strategic-merge', { status });
  }

  async liftGates(key: string): Promise<void> {
    await this.client.patch(podPath(key), 'merge', { spec: { schedulingGates: null } });
  }

  /** Deletes at once: without a kubelet the pod would otherwise stay forever. */
  async deletePod(key: string): Promise<void> {
    await this.client.delete(podPath(key), { gracePeriodSeconds: 0 });
  }

  // The end

  /** Registers a cleanup to run before the stage's nodes and namespaces are deleted; the last one runs first. */
  atEnd(end: () => Promise<void>): void {
    this.#started.push(end);
  }

  /**
   * Resolves when the scheduler has handled everything that it can. It creates two pods of the lowest priority and a node that fits only
   * them, and waits until both are bound. The queue pops the second after everything that the new node made it retry.
   */
  async settle(): Promise<void> {
    if (!this.schedules) return;
    const last = `last-${this.#marks++}`;
    const mark = { key: 'tutti-tests/last', effect: 'NoSchedule' } as const;
    const tolerations = [{ ...mark, operator: 'Exists' }];
    const [name] = await this.addNodes({ name: last, allocatable: { pods: '2' }, taints: [mark] });
    const nodeSelector = { 'kubernetes.io/hostname': name! };
    for (const index of [0, 1]) {
      const key = await this.createPod(`${last}-${index}`, { priority: 'last', tolerations, nodeSelector });
      await expectBound(this.record, [key]);
    }
  }

  /** Returns problems in the history and the logs. */
  problems(): string[] {
    const { partialForMs, expectsRejections } = this;
    const rules = { namespaces: this.#namespaces, partialForMs, expectsRejections };
    return [...historyProblems(this.record, rules), ...this.logs.internalErrors()];
  }

  /** Ends the processes and removes what was created, so that the plane is as before. */
  async close(): Promise<void> {
    for (const end of this.#started.toReversed()) await end();
    await this.record.close();
    await Promise.all([...this.#namespaces].map((namespace) => this.#empty(namespace)));
    for (const key of this.#nativeGroups) await unlessAbsent(this.deleteGroup(key));
    await Promise.all(this.nodes.map((name) => this.#delete(nodePath(name))));
    for (const namespace of this.#namespaces) await this.#delete(`/api/v1/namespaces/${namespace}`);
  }

  /** Servers taint new nodes until a controller, which no plane runs, has seen that they are ready. */
  async #admitPods(specs: readonly SimulatedNodeSpec[]): Promise<void> {
    for (const { name, taints } of specs) {
      await this.client.patch(nodePath(name), 'merge', { spec: { taints: taints ?? null } });
    }
  }

  #ownNode(spec: SimulatedNodeSpec): SimulatedNodeSpec {
    const name = `${spec.name}-${this.#suffix}`;
    this.nodes.push(name);
    return { ...spec, name };
  }

  #accountOf(process: 'scheduler' | 'controller'): ProcessAccount {
    return this.plane.accounts?.[process] ?? this.plane;
  }

  #address(process: 'scheduler' | 'controller', endpoint?: Endpoint): { endpoint: Endpoint } | { kubeconfig: string } {
    return endpoint === undefined ? { kubeconfig: this.#accountOf(process).kubeconfigPath } : { endpoint };
  }

  async #createPriorityClass(name: string, value: number): Promise<void> {
    const preemptionPolicy = name === neverPreempts ? 'Never' : 'PreemptLowerPriority';
    const metadata = { name };
    const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value, preemptionPolicy };
    await unlessExists(this.client.create('/apis/scheduling.k8s.io/v1/priorityclasses', object));
  }

  async #createNamespace(name: string): Promise<void> {
    await this.client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    this.#namespaces.add(name);
    // A controller creates it if one runs; pods are rejected until it exists.
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } };
    await unlessExists(this.client.create(`/api/v1/namespaces/${name}/serviceaccounts`, account));
  }

  async #empty(namespace: string): Promise<void> {
    const { items } = await this.client.list(`/api/v1/namespaces/${namespace}/pods`);
    const names = (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    await Promise.all(names.map((name) => this.#delete(podPath(`${namespace}/${name}`), { gracePeriodSeconds: 0 })));
    const groups = await this.client.list(podGroupPath(namespace));
    for (const { metadata } of groups.items as { metadata: { name: string } }[]) {
      await this.#delete(podGroupPath(namespace, metadata.name));
    }
  }

  async #delete(path: string, options?: object): Promise<void> {
    await unlessAbsent(this.client.delete(path, options));
  }
}

function nodePath(name: string): string {
  return `/api/v1/nodes/${name}`;
}

function podPath(key: string): string {
  const [namespace, name] = key.split('/');
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

async function unlessExists(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!(error instanceof AlreadyExistsError)) throw error;
  });
}

async function unlessAbsent(change: Promise<unknown>): Promise<void> {
  await change.catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
  });
}
