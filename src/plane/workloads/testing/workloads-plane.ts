import { seededRandom } from '../../../base/random.ts';
import { InProcessTransport } from '../../apiserver/in-process-transport.ts';
import type { SimulationProblem } from '../../nodes/simulation-problem.ts';
import { SimulatedPlane, small } from '../../nodes/testing/simulated-plane.ts';
import { WorkloadControllers } from '../workload-controllers.ts';
import type { Workload, WorkloadPod } from '../workload.ts';

export type Seen = Workload<any, any>;

/** A control plane with one large node and the workload controllers, on one virtual clock. */
export class WorkloadsPlane extends SimulatedPlane {
  readonly workloadProblems: SimulationProblem[] = [];
  controllers: WorkloadControllers;
  readonly #maxPods: number | undefined;

  constructor(maxPods?: number) {
    super([{ ...small, allocatable: { cpu: '1000', memory: '1000Gi', pods: '20000' } }]);
    this.#maxPods = maxPods;
    this.controllers = this.#createControllers();
  }

  #createControllers(): WorkloadControllers {
    return new WorkloadControllers({
      transport: new InProcessTransport(this.server),
      clock: this.clock,
      random: seededRandom(3),
      onProblem: (problem) => this.workloadProblems.push(problem),
      ...(this.#maxPods !== undefined && { maxPods: this.#maxPods }),
    });
  }

  override async started(): Promise<void> {
    await super.started();
    await this.startControllers();
  }

  async startControllers(): Promise<void> {
    const starting = this.controllers.start();
    await this.pass(1_000);
    await starting;
  }

  /** Replaces the controllers with those of another process. */
  async restartControllers(): Promise<void> {
    const stopping = this.controllers.stop();
    await this.pass(0);
    await stopping;
    this.controllers = this.#createControllers();
    await this.startControllers();
  }

  /** Creates a workload whose pods are bound to the node. `runs` is the run duration of each pod; the default is forever. */
  async createWorkload(kind: string, name: string, spec: object, runs = 'never', exitCode = '0'): Promise<void> {
    const isJob = kind === 'Job';
    await this.client.create(collection(kind), {
      apiVersion: isJob ? 'batch/v1' : 'apps/v1',
      kind,
      metadata: { name },
      spec: {
        ...(!isJob && { selector: { matchLabels: { app: name } } }),
        template: templateOf(name, isJob, { 'sim.tutti.dev/run-duration': runs, 'sim.tutti.dev/exit-code': exitCode }),
        ...spec,
      },
    });
  }

  patchSpec(kind: string, name: string, spec: object): Promise<unknown> {
    return this.client.patch(`${collection(kind)}/${name}`, 'merge', { spec });
  }

  async deleteWorkload(kind: string, name: string, propagationPolicy = 'Background'): Promise<void> {
    await this.client.delete(`${collection(kind)}/${name}`, { propagationPolicy });
  }

  workload(kind: string, name: string): Promise<Seen> {
    return this.client.get<Seen>(`${collection(kind)}/${name}`);
  }

  async workloads(kind: string): Promise<Seen[]> {
    return (await this.client.list(collection(kind))).items as Seen[];
  }

  async pods(): Promise<WorkloadPod[]> {
    return (await this.client.list('/api/v1/namespaces/default/pods')).items as WorkloadPod[];
  }

  async events(): Promise<string[]> {
    const { items } = await this.client.list('/api/v1/namespaces/default/events');
    return (items as { reason: string; message: string }[]).map(({ reason, message }) => `${reason}: ${message}`);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.controllers.stop();
    await this.pass(0);
    await stopping;
    await super[Symbol.asyncDispose]();
  }
}

export async function startWorkloadsPlane(maxPods?: number): Promise<WorkloadsPlane> {
  const plane = new WorkloadsPlane(maxPods);
  await plane.started();
  return plane;
}

function collection(kind: string): string {
  const group = kind === 'Job' ? 'batch' : 'apps';
  return `/apis/${group}/v1/namespaces/default/${kind.toLowerCase()}s`;
}

function templateOf(name: string, isJob: boolean, annotations: Readonly<Record<string, string>>): object {
  return {
    metadata: { labels: { app: name }, annotations },
    spec: {
      restartPolicy: isJob ? 'Never' : 'Always',
      nodeName: small.name,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'registry.example/main:1' }],
    },
  };
}
