import { systemClock } from '../../src/base/system-clock.ts';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { ConflictError, NotFoundError } from '../../src/client/api-errors.ts';
import { Reflector } from '../../src/informer/reflector.ts';
import { kubeconfigOf } from '../planes/real/service-accounts.ts';
import type { PlaneWithFolder } from '../planes/real/service-accounts.ts';

interface RunnablePod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly schedulerName: string;
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly containers: readonly {
      readonly name: string;
      readonly args?: readonly string[];
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
}

/** What has become of a pod. */
export interface RunPod {
  readonly name: string;
  readonly stdout: string;
  readonly exitCode: number | undefined;
}

/**
 * Stands in for a node where no container can be run: each pod of a release's namespace, whose image is Tutti's, is a process here, with
 * the arguments, the environment and the token that its container would have, and its phase says how that ended. What the cluster's
 * own scheduler is to place there, it takes, too. Pods of other namespaces stay as they are bound.
 */
export class ProcessNode {
  readonly #name: string;
  readonly #namespace: string;
  readonly #plane: PlaneWithFolder;
  readonly #pods: Reflector<RunnablePod>;
  /** uid -> the process, or undefined while it is being started */
  readonly #processes = new Map<string, TestProcess | undefined>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #ended: RunPod[] = [];
  readonly #problems: unknown[] = [];

  private constructor(plane: PlaneWithFolder, name: string, namespace: string) {
    this.#plane = plane;
    this.#name = name;
    this.#namespace = namespace;
    const look = (pod: RunnablePod): void => this.#look(pod);
    this.#pods = new Reflector<RunnablePod>({
      client: plane.client,
      clock: systemClock,
      random: Math.random,
      path: `/api/v1/namespaces/${namespace}/pods`,
      project: (raw) => raw as RunnablePod,
      handler: { onAdd: look, onUpdate: (_, pod) => look(pod), onDelete: (pod) => this.#gone(pod) },
    });
  }

  /** Resolves when it has seen what is to run; the node's object must be there. */
  static async start(plane: PlaneWithFolder, name: string, namespace: string): Promise<ProcessNode> {
    const node = new ProcessNode(plane, name, namespace);
    node.#pods.start();
    await node.#pods.synced();
    return node;
  }

  /** What has run to its end, in that order. */
  get ended(): readonly RunPod[] {
    return this.#ended;
  }

  /** Ends what still runs. Rejects with what could not be done, if anything. */
  async stop(): Promise<void> {
    await this.#pods.stop();
    for (const process of this.#processes.values()) process?.signal('SIGTERM');
    await Promise.all(this.#underWay);
    if (this.#problems.length > 0) throw new AggregateError(this.#problems, 'the node failed');
  }

  #look(pod: RunnablePod): void {
    const { nodeName, schedulerName } = pod.spec;
    if (nodeName === undefined && schedulerName === 'default-scheduler') this.#do(this.#bind(pod));
    if (nodeName !== this.#name || this.#processes.has(pod.metadata.uid)) return;
    this.#processes.set(pod.metadata.uid, undefined);
    this.#do(this.#run(pod));
  }

  #gone({ metadata }: RunnablePod): void {
    this.#processes.get(metadata.uid)?.signal('SIGTERM');
  }

  #do(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => void this.#problems.push(error))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  async #bind({ metadata: { name } }: RunnablePod): Promise<void> {
    await this.#plane.client.create(`/api/v1/namespaces/${this.#namespace}/pods/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: this.#name },
    });
  }

  async #run(pod: RunnablePod): Promise<void> {
    const { metadata, spec } = pod;
    const { name, uid } = metadata;
    const [container] = spec.containers;
    const { args = [], env = [] } = container!;
    const account = spec.serviceAccountName ?? 'default';
    const token =
      spec.automountServiceAccountToken === false
        ? {}
        : { KUBECONFIG: await kubeconfigOf(this.#plane, this.#namespace, account) };
    const given = Object.fromEntries(env.map(({ name: variable, value = '' }) => [variable, value]));
    const process = new TestProcess(args, { environment: { KUBECONFIG: '/dev/null', ...token, ...given } });
    this.#processes.set(uid, process);
    await this.#tell(pod, 'Running', { running: {} });
    const { exitCode } = await process.ended();
    this.#ended.push({ name, stdout: process.stdout, exitCode });
    await this.#tell(pod, exitCode === 0 ? 'Succeeded' : 'Failed', { terminated: { exitCode: exitCode ?? 137 } });
  }

  /** The pod may have been deleted meanwhile. */
  async #tell({ metadata: { name, uid }, spec }: RunnablePod, phase: string, state: object): Promise<void> {
    const containerStatuses = [{ name: spec.containers[0]!.name, state, ready: phase === 'Running', restartCount: 0 }];
    const status = { metadata: { uid }, status: { phase, containerStatuses } };
    const path = `/api/v1/namespaces/${this.#namespace}/pods/${name}/status`;
    await this.#plane.client.patch(path, 'strategic-merge', status).catch((error: unknown) => {
      if (!(error instanceof NotFoundError || error instanceof ConflictError)) throw error;
    });
  }
}
