import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { toError } from '../../base/to-error.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../client/api-errors.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { Transport } from '../../client/transport.ts';
import type { Reflector } from '../../informer/reflector.ts';
import { readAdoptableNode } from './adoptable-node.ts';
import type { AdoptableNode } from './adoptable-node.ts';
import { isTerminalPhase, readKubeletPod } from './kubelet-pod.ts';
import type { KubeletPod } from './kubelet-pod.ts';
import type { SimulatedNodeSpec } from './node-object.ts';
import { persist } from './persist.ts';
import { PodWorker } from './pod-worker.ts';
import { Rendezvous } from './rendezvous.ts';
import { SimulatedNode } from './simulated-node.ts';
import type { SimulationDefaults } from './simulation-annotations.ts';
import { simulatedReflector } from './simulated-reflector.ts';
import type { OnSimulationProblem } from './simulation-problem.ts';

export interface SimulatedNodesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Used only for the jitter of retries. The behavior of pods depends only on the clock and their annotations. */
  readonly random: Random;
  readonly nodes: readonly SimulatedNodeSpec[];
  /** Whether to simulate Nodes that users create, and to remove simulated nodes whose Node was deleted. Default: false. */
  readonly adoptsNodes?: boolean;
  readonly defaults?: SimulationDefaults;
  /** Called with each error that was skipped or is being retried. Default: ignores them. */
  readonly onProblem?: OnSimulationProblem;
}

/** Number of nodes to register concurrently at the start. */
const registrationBatch = 16;

/**
 * Simulates kubelets that run no containers, as ordinary API clients. Each node registers itself, admits or rejects the pods bound to
 * it as a kubelet does, and simulates them according to `simulationAnnotations`. One watch of all pods serves all nodes. Runs are
 * deterministic, given the same clock and the same responses of the server.
 */
export class SimulatedNodes {
  readonly #options: SimulatedNodesOptions;
  readonly #client: KubeClient;
  readonly #stop = new AbortController();
  readonly #onProblem: OnSimulationProblem;
  readonly #reflector: Reflector<KubeletPod>;
  readonly #rendezvous: Rendezvous;
  #nodeReflector: Reflector<AdoptableNode> | undefined;
  /** Work under way on nodes and on pods of nodes that are gone. */
  readonly #tasks = new Set<Promise<void>>();
  /** Node name -> node */
  readonly #nodes = new Map<string, SimulatedNode>();
  /** Pod uid -> its worker; only pods bound to simulated nodes */
  readonly #workers = new Map<string, PodWorker>();
  #isSynced = false;
  #areNodesSynced = false;
  #nodeAddresses = 0;
  #podAddresses = 0;

  constructor(options: SimulatedNodesOptions) {
    const { transport, clock, random } = options;
    const { signal } = this.#stop;
    this.#options = options;
    this.#onProblem = options.onProblem ?? ((): void => undefined);
    const client = new KubeClient({ transport, clock, userAgent: 'tutti-simulated-nodes' });
    this.#client = client;
    const reflectorContext = { client, clock, random, onProblem: this.#onProblem };
    this.#reflector = simulatedReflector<KubeletPod>(reflectorContext, {
      path: '/api/v1/pods',
      project: readKubeletPod,
      handler: {
        onAdd: (pod) => this.#changed(pod),
        onUpdate: (_previous, pod) => this.#changed(pod),
        onDelete: (pod) => this.#gone(pod),
        onSynced: () => this.#takeOver(),
      },
      indexers: { group: (pod) => (pod.groupKey === undefined ? [] : [pod.groupKey]) },
    });
    this.#rendezvous = new Rendezvous({
      client,
      clock,
      signal,
      runningMembers: (groupKey) => this.#runningMembers(groupKey),
      onProblem: this.#onProblem,
    });
    if (options.adoptsNodes !== true) return;
    this.#nodeReflector = simulatedReflector(reflectorContext, {
      path: '/api/v1/nodes',
      project: readAdoptableNode,
      handler: {
        onAdd: (node) => this.#adopt(node),
        onUpdate: (previous, node) => {
          if (previous.uid !== node.uid) this.#removeNode(previous.name);
          this.#adopt(node);
        },
        onDelete: ({ name }) => this.#removeNode(name),
      },
    });
  }

  /**
   * Registers all nodes, then takes over the pods that are already bound to them, and resolves. Retries calls a few times, and rejects
   * if a node still cannot be registered.
   */
  async start(): Promise<void> {
    const { nodes } = this.#options;
    for (let first = 0; first < nodes.length; first += registrationBatch) {
      await Promise.all(nodes.slice(first, first + registrationBatch).map((spec) => this.#addNode(spec)));
    }
    this.#reflector.start();
    await this.#reflector.synced();
    this.#nodeReflector?.start();
    await this.#nodeReflector?.synced();
    this.#areNodesSynced = true;
  }

  /**
   * Whether a bound pod will change without outside help, however long that takes. Pods that run forever or wait for other members do not
   * count.
   */
  get areMoving(): boolean {
    for (const worker of this.#workers.values()) if (worker.isMoving) return true;
    return false;
  }

  /** Stops all nodes: they write no more statuses. Their objects remain. Resolves when no call is in progress. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the simulated nodes are stopped'));
    await Promise.all([
      this.#reflector.stop(),
      this.#nodeReflector?.stop(),
      ...this.#tasks,
      ...[...this.#workers.values()].map((worker) => worker.stop()),
    ]);
    this.#workers.clear();
  }

  /** `uid` is that of the existing Node to take over, if any. */
  async #addNode(spec: SimulatedNodeSpec, uid?: string): Promise<void> {
    if (this.#nodes.has(spec.name)) throw new Error(`simulated node ${JSON.stringify(spec.name)} already exists`);
    const { clock, random } = this.#options;
    const { signal } = this.#stop;
    const hostIP = address(10, 0, ++this.#nodeAddresses);
    const node = new SimulatedNode({ client: this.#client, spec, hostIP, signal });
    // Add the node before it registers: a scheduler may bind pods to it at once.
    this.#nodes.set(spec.name, node);
    try {
      await retry(() => node.register(clock.now(), uid), { clock, random, idempotent: true, signal });
    } catch (error) {
      if (this.#nodes.get(spec.name) === node) this.#nodes.delete(spec.name);
      throw error;
    }
  }

  #adopt(node: AdoptableNode): void {
    if (node.hasKubelet || this.#nodes.has(node.name)) return;
    this.#track(this.#takeOverNode(node));
  }

  #track(work: Promise<void>): void {
    const task = work.finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  async #takeOverNode(node: AdoptableNode): Promise<void> {
    try {
      await this.#addNode(node, node.uid);
    } catch (thrown) {
      // The Node was deleted or replaced. The watch reports any new one.
      if (this.#stop.signal.aborted || isStaleNode(thrown)) return;
      const error = toError(thrown);
      this.#onProblem({ message: 'cannot simulate node', subject: `node ${node.name}`, error });
      return;
    }
    if (this.#stop.signal.aborted) return;
    // Pods may already be bound to the node.
    for (const pod of this.#reflector.store.values()) if (pod.nodeName === node.name) this.#changed(pod);
  }

  /** Removes the node. Its pods keep their status until they are deleted, as on a machine that was switched off. */
  #removeNode(name: string): void {
    this.#nodes.delete(name);
    for (const pod of this.#reflector.store.values()) {
      if (pod.nodeName !== name) continue;
      void this.#drop(pod.uid);
      if (pod.isDeleting) this.#track(this.#endDeletion(pod));
    }
  }

  /** Whether the pod is on a Node that does not exist. */
  #isOrphan({ nodeName }: KubeletPod): boolean {
    const nodes = this.#nodeReflector;
    if (nodes === undefined || !this.#areNodesSynced || nodeName === '' || this.#nodes.has(nodeName)) return false;
    return ![...nodes.store.values()].some(({ name }) => name === nodeName);
  }

  /** Removes a pod that is being deleted, as the pod garbage collector of a cluster does: its node no longer can. */
  async #endDeletion(pod: KubeletPod): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stop;
    const body = { gracePeriodSeconds: 0, preconditions: { uid: pod.uid } };
    // Rejects only when the simulation stops.
    const remove = (): Promise<unknown> => this.#client.delete(podPath(pod), body, { signal });
    await persist(remove, { clock, random, signal }).catch(() => undefined);
  }

  /** Starts running pods first, because they already use capacity, then the others in order of creation. */
  #takeOver(): void {
    this.#isSynced = true;
    const pods = [...this.#reflector.store.values()].filter((pod) => !this.#workers.has(pod.uid));
    const rank = (pod: KubeletPod): number => (pod.phase === 'Running' ? 0 : 1);
    pods.sort((a, b) => rank(a) - rank(b) || a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1));
    for (const pod of pods) this.#changed(pod);
  }

  #changed(pod: KubeletPod): void {
    if (!this.#isSynced) return;
    const worker = this.#workers.get(pod.uid);
    if (worker !== undefined) worker.update(pod);
    else if (pod.isDeleting && this.#isOrphan(pod)) this.#track(this.#endDeletion(pod));
    else this.#begin(pod);
    if (pod.groupKey !== undefined) this.#rendezvous.changed(pod.groupKey);
  }

  #begin(pod: KubeletPod): void {
    const host = this.#nodes.get(pod.nodeName);
    if (host === undefined || (isTerminalPhase(pod.phase) && !pod.isDeleting)) return;
    const { clock, random, defaults = {} } = this.#options;
    const worker = new PodWorker(pod, {
      client: this.#client,
      clock,
      random,
      host,
      rendezvous: this.#rendezvous,
      defaults,
      podIP: address(10, 128, ++this.#podAddresses),
      onProblem: this.#onProblem,
    });
    this.#workers.set(pod.uid, worker);
    worker.begin();
  }

  #gone(pod: KubeletPod): void {
    void this.#drop(pod.uid);
    if (pod.groupKey !== undefined) this.#rendezvous.changed(pod.groupKey);
  }

  async #drop(uid: string): Promise<void> {
    const worker = this.#workers.get(uid);
    this.#workers.delete(uid);
    await worker?.stop();
  }

  #runningMembers(groupKey: string): number {
    let running = 0;
    for (const pod of this.#reflector.store.byIndex('group', groupKey)) {
      if (pod.phase === 'Running' && !pod.isDeleting) running++;
    }
    return running;
  }
}

/** Whether the server has no Node with this name and uid. */
function isStaleNode(error: unknown): boolean {
  if (error instanceof InvalidError) return error.causes.some(({ field }) => field === 'metadata.uid');
  return error instanceof NotFoundError || error instanceof ConflictError;
}

/** Returns the `index`-th address of the network with the given first two numbers. */
function address(first: number, second: number, index: number): string {
  return [first, second + ((index >> 16) & 63), (index >> 8) & 255, index & 255].join('.');
}
