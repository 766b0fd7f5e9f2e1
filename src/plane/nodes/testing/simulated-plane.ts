import { seededRandom } from '../../../base/random.ts';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { KubeClient } from '../../../client/kube-client.ts';
import type { TransportRequest, TransportResponse } from '../../../client/transport.ts';
import { EmbeddedApiServer } from '../../apiserver/embedded-api-server.ts';
import type { Intercept } from '../../apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../../apiserver/in-process-transport.ts';
import type { SimulatedNodeSpec } from '../node-object.ts';
import { SimulatedNodes } from '../simulated-nodes.ts';
import { simulationAnnotations } from '../simulation-annotations.ts';
import type { SimulationProblem } from '../simulation-problem.ts';

/** The fields of a pod that tests check. */
export interface SeenPod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  status: {
    phase: string;
    reason?: string;
    message?: string;
    podIP?: string;
    hostIP?: string;
    startTime?: string;
    conditions?: { type: string; status: string; reason?: string }[];
    containerStatuses?: { ready: boolean; restartCount: number; state: Record<string, { exitCode?: number }> }[];
    initContainerStatuses?: { name: string; state: Record<string, unknown> }[];
  };
}

export interface PodOptions {
  readonly node?: string;
  readonly cpu?: string;
  readonly group?: string;
  readonly annotations?: Partial<Record<keyof typeof simulationAnnotations, string>>;
  readonly spec?: Record<string, unknown>;
}

/** A real API server, simulated nodes and a client, on one virtual clock. */
export class SimulatedPlane {
  readonly clock = new VirtualClock();
  readonly problems: SimulationProblem[] = [];
  readonly requests: Pick<TransportRequest, 'method' | 'path' | 'headers' | 'body'>[] = [];
  readonly server: EmbeddedApiServer;
  readonly client: KubeClient;
  nodes: SimulatedNodes;
  /** Injects faults into requests of the nodes. Requests of the test itself are not affected. */
  fault: (request: TransportRequest, proceed: () => TransportResponse) => ReturnType<Intercept> = () => undefined;

  constructor(specs: readonly SimulatedNodeSpec[]) {
    this.server = new EmbeddedApiServer({
      clock: this.clock,
      random: seededRandom(1),
      intercept: (request, proceed) => {
        const { method, path, headers, body } = request;
        this.requests.push({ method, path, headers, ...(body !== undefined && { body }) });
        return request.headers['user-agent'] === 'tutti-simulated-nodes' ? this.fault(request, proceed) : undefined;
      },
    });
    this.client = new KubeClient({ transport: new InProcessTransport(this.server), clock: this.clock });
    this.nodes = this.#simulate(specs);
  }

  #simulate(specs: readonly SimulatedNodeSpec[]): SimulatedNodes {
    return new SimulatedNodes({
      transport: new InProcessTransport(this.server),
      clock: this.clock,
      random: seededRandom(2),
      nodes: specs,
      adoptsNodes: true,
      onProblem: (problem) => this.problems.push(problem),
    });
  }

  /** Replaces the nodes with those of another process. */
  async restart(specs: readonly SimulatedNodeSpec[]): Promise<void> {
    await this.nodes.stop();
    this.nodes = this.#simulate(specs);
    await this.started();
  }

  async started(): Promise<void> {
    const starting = this.nodes.start();
    await this.pass(5_000);
    await starting;
  }

  /** Advances the clock and runs everything that is due. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    await settled();
    for (;;) {
      const next = this.clock.untilNextTimer();
      if (next === undefined || this.clock.monotonic() + next > end) break;
      this.clock.advance(next);
      await settled();
    }
    this.clock.advance(end - this.clock.monotonic());
    await settled();
  }

  async createPod(name: string, options: PodOptions = {}): Promise<void> {
    const annotations = Object.entries(options.annotations ?? {}).map(([key, value]) => [
      simulationAnnotations[key as keyof typeof simulationAnnotations],
      value,
    ]);
    await this.client.create('/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        labels: options.group === undefined ? {} : { 'scheduling.x-k8s.io/pod-group': options.group },
        annotations: Object.fromEntries(annotations) as Record<string, string>,
      },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'train', resources: { requests: { cpu: options.cpu ?? '1' } } }],
        ...options.spec,
      },
    });
    if (options.node !== undefined) await this.bind(name, options.node);
  }

  async bind(name: string, node: string): Promise<void> {
    await this.client.create(`/api/v1/namespaces/default/pods/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    });
  }

  pod(name: string): Promise<SeenPod> {
    return this.client.get<SeenPod>(`/api/v1/namespaces/default/pods/${name}`);
  }

  async phase(name: string): Promise<string> {
    return (await this.pod(name)).status.phase;
  }

  async podNames(): Promise<string[]> {
    const { items } = await this.client.list('/api/v1/namespaces/default/pods');
    return (items as SeenPod[]).map(({ metadata }) => metadata.name);
  }

  deletePod(name: string, options: Record<string, unknown> = {}): Promise<unknown> {
    return this.client.delete(`/api/v1/namespaces/default/pods/${name}`, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.nodes.stop();
    this.server.close();
  }
}

/** Waits until no more promises settle. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A node with four CPUs. */
export const small: SimulatedNodeSpec = { name: 'a', allocatable: { cpu: '4', memory: '8Gi', pods: '10' } };

/** Starts a plane with its nodes. `await using` closes it. */
export async function startPlane(specs: readonly SimulatedNodeSpec[] = [small]): Promise<SimulatedPlane> {
  const plane = new SimulatedPlane(specs);
  await plane.started();
  return plane;
}
