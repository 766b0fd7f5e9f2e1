import { seededRandom } from '../../../base/random.ts';
import { InProcessTransport } from '../../apiserver/in-process-transport.ts';
import type { SimulationProblem } from '../../nodes/simulation-problem.ts';
import { small } from '../../nodes/testing/simulated-plane.ts';
import { SimulatedPlane } from '../../nodes/testing/simulated-plane.ts';
import type { JobStatus } from '../job.ts';
import { SimulatedJobs } from '../simulated-jobs.ts';
import type { SimulatedJobsOptions } from '../simulated-jobs.ts';
import { jobManifest } from './job-manifest.ts';

export interface SeenJobPod {
  readonly metadata: {
    readonly name: string;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly status: { readonly phase: string };
}

/** A call that changes something. */
export interface WriteCall {
  readonly method: string;
  readonly path: string;
}

/** A plane with a node, and what acts on Jobs there, on one virtual clock. */
export class JobsPlane extends SimulatedPlane {
  readonly jobProblems: SimulationProblem[] = [];
  controller: SimulatedJobs;
  readonly #options: Partial<SimulatedJobsOptions>;
  /** Told of each call of the controller that changes something, before it is carried out; throws to break it off. */
  onCall: (request: WriteCall) => void = () => undefined;
  /** Told of each that has been carried out; throws to lose the answer. */
  onAnswer: (request: WriteCall) => void = () => undefined;

  constructor(options: Partial<SimulatedJobsOptions> = {}) {
    super([{ ...small, allocatable: { cpu: '1000', memory: '1000Gi', pods: '20000' } }]);
    this.#options = options;
    this.controller = this.#make();
  }

  #make(): SimulatedJobs {
    const transport = new InProcessTransport(this.server);
    return new SimulatedJobs({
      transport: {
        ...transport,
        close: () => transport.close(),
        send: async (request, signal) => {
          const isEvent = request.path.includes('/events');
          const isWrite = request.method !== 'GET' && !isEvent;
          if (isWrite) this.onCall({ method: request.method, path: request.path });
          const response = await transport.send(request, signal);
          if (isWrite) this.onAnswer({ method: request.method, path: request.path });
          return response;
        },
      },
      clock: this.clock,
      random: seededRandom(3),
      onProblem: (problem) => this.jobProblems.push(problem),
      ...this.#options,
    });
  }

  override async started(): Promise<void> {
    await super.started();
    await this.startController();
  }

  async startController(): Promise<void> {
    const starting = this.controller.start();
    await this.pass(1_000);
    await starting;
  }

  /** As when its process dies, and another one begins. */
  async replaceController(): Promise<void> {
    const stopping = this.controller.stop();
    await this.pass(0);
    await stopping;
    this.controller = this.#make();
    await this.startController();
  }

  /** A Job whose pods are bound to the node. `runs`: for how long; default for ever. */
  createJob(name: string, spec: object = {}, runs = 'never', exitCode = '0'): Promise<unknown> {
    const manifest = jobManifest(name, { runs, exitCode, nodeName: small.name, spec });
    return this.client.create('/apis/batch/v1/namespaces/default/jobs', manifest);
  }

  patchJob(name: string, spec: object): Promise<unknown> {
    return this.client.patch(`/apis/batch/v1/namespaces/default/jobs/${name}`, 'merge', { spec });
  }

  deleteJob(name: string, propagationPolicy = 'Background'): Promise<unknown> {
    return this.client.delete(`/apis/batch/v1/namespaces/default/jobs/${name}`, { propagationPolicy });
  }

  async status(name: string): Promise<JobStatus> {
    const { status = {} } = await this.client.get<{ status?: JobStatus }>(
      `/apis/batch/v1/namespaces/default/jobs/${name}`,
    );
    return status;
  }

  async pods(): Promise<SeenJobPod[]> {
    return (await this.client.list('/api/v1/namespaces/default/pods')).items as SeenJobPod[];
  }

  async events(): Promise<string[]> {
    const { items } = await this.client.list('/api/v1/namespaces/default/events');
    return (items as { reason: string; message: string }[]).map(({ reason, message }) => `${reason}: ${message}`);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.controller.stop();
    await this.pass(0);
    await stopping;
    await super[Symbol.asyncDispose]();
  }
}

export async function startJobsPlane(options?: Partial<SimulatedJobsOptions>): Promise<JobsPlane> {
  const plane = new JobsPlane(options);
  await plane.started();
  return plane;
}
