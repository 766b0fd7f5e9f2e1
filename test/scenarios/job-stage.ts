import { jobController } from '../../src/plane/workloads/job-controller.ts';
import { objectPath } from '../../src/plane/workloads/workload-controller.ts';
import type { JobStatus } from '../../src/plane/workloads/job.ts';
import { WorkloadControllers } from '../../src/plane/workloads/workload-controllers.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { jobManifest } from '../../src/plane/workloads/testing/job-manifest.ts';
import { Recording } from '../expect/recording.ts';
import type { WatchedObject } from '../expect/watched.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import type { Stage } from './stage.ts';

export interface WatchedJob extends WatchedObject {
  readonly status?: JobStatus;
}

/** The fields of a pod that these scenarios read. */
export interface PodSeen {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generateName?: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: {
    readonly hostname?: string;
    readonly containers: readonly { readonly env?: readonly object[] }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
}

export interface JobOptions {
  /** How long each pod runs; default: forever. */
  readonly runs?: string;
  readonly exitCode?: number;
  readonly restartPolicy?: 'Never' | 'OnFailure';
  readonly labels?: Readonly<Record<string, string>>;
  /** More of its pods' spec; default: bound to the node. */
  readonly pod?: object;
  /** The rest of `spec`. */
  readonly spec?: object;
}

/** Jobs in a scenario: a node that runs their pods, and the Job controller of this plane, simulated or real. */
export class JobStage {
  readonly jobs: Recording<WatchedJob>;
  readonly #stage: Stage;
  readonly #node: string;

  private constructor(stage: Stage, jobs: Recording<WatchedJob>, node: string) {
    this.#stage = stage;
    this.jobs = jobs;
    this.#node = node;
  }

  static async open(stage: Stage): Promise<JobStage> {
    const [node] = await stage.addSimulatedNodes({ name: 'worker', allocatable: { cpu: '64', memory: '64Gi' } });
    const jobs = await Recording.open<WatchedJob>(stage.client, '/apis/batch/v1/jobs', () => undefined);
    const opened = new JobStage(stage, jobs, node!);
    const controller = stage.plane.runsJobs
      ? undefined
      : new WorkloadControllers({ transport: stage.plane.transport, clock: systemClock, random: Math.random });
    stage.atEnd(async () => {
      await opened.#clear();
      await controller?.stop();
      await jobs.close();
    });
    await controller?.start();
    return opened;
  }

  async create(
    name: string,
    { runs, exitCode, restartPolicy = 'Never', labels, pod: own, spec }: JobOptions = {},
  ): Promise<void> {
    const { namespace, client } = this.#stage;
    const pod = { restartPolicy, terminationGracePeriodSeconds: 1, ...own };
    const manifest = jobManifest(name, { runs, exitCode, labels, nodeName: this.#node, pod, spec });
    await client.create(`/apis/batch/v1/namespaces/${namespace}/jobs`, manifest);
  }

  async patch(name: string, spec: object): Promise<void> {
    await this.#stage.client.patch(this.#path(name), 'merge', { spec });
  }

  async delete(name: string, propagationPolicy: 'Background' | 'Orphan'): Promise<void> {
    await this.#stage.client.delete(this.#path(name), { propagationPolicy });
  }

  /** Returns the pods of the Job, by index and creation, even if the Job is gone. */
  async pods(name: string): Promise<readonly PodSeen[]> {
    const path = `/api/v1/namespaces/${this.#stage.namespace}/pods`;
    const { items } = await this.#stage.client.list(path, { labelSelector: `batch.kubernetes.io/job-name=${name}` });
    const index = ({ metadata }: PodSeen): number =>
      Number(metadata.labels?.['batch.kubernetes.io/job-completion-index'] ?? 0);
    return (items as PodSeen[]).sort(
      (a, b) => index(a) - index(b) || a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp),
    );
  }

  /** Reports the end of the pod as its kubelet would. */
  async end({ metadata }: PodSeen, phase: 'Succeeded' | 'Failed', rest: object = {}): Promise<void> {
    await this.#stage.setPodStatus(`${this.#stage.namespace}/${metadata.name}`, { phase, ...rest });
  }

  async deletePod({ metadata }: PodSeen): Promise<void> {
    await this.#stage.deletePod(`${this.#stage.namespace}/${metadata.name}`);
  }

  /** Deletes the pod as users do, with its grace period. */
  async deletePodGracefully({ metadata }: PodSeen): Promise<void> {
    await this.#stage.client.delete(`/api/v1/namespaces/${this.#stage.namespace}/pods/${metadata.name}`);
  }

  /** Sets labels of a pod, and removes those that are null. */
  async relabel({ metadata }: PodSeen, labels: Readonly<Record<string, string | null>>): Promise<void> {
    const path = `/api/v1/namespaces/${this.#stage.namespace}/pods/${metadata.name}`;
    await this.#stage.client.patch(path, 'merge', { metadata: { labels } });
  }

  /** Creates a pod that looks as if the Job had created it, with the given differences. */
  async forge(
    job: string,
    name: string,
    own: { readonly namespace?: string; readonly annotations?: object; readonly labels?: object } = {},
  ): Promise<void> {
    const { client, namespace } = this.#stage;
    const { metadata, spec } = await client.get<{
      readonly metadata: { readonly uid: string };
      readonly spec: { readonly template: { readonly metadata: { readonly labels: object }; readonly spec: object } };
    }>(this.#path(job));
    const place = own.namespace ?? namespace;
    await client.create(`/api/v1/namespaces/${place}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        labels: own.labels ?? spec.template.metadata.labels,
        annotations: own.annotations ?? {},
        finalizers: ['batch.kubernetes.io/job-tracking'],
        ownerReferences: [
          {
            apiVersion: 'batch/v1',
            kind: 'Job',
            name: job,
            uid: metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: spec.template.spec,
    });
  }

  /** Adds another namespace for this scenario. */
  addNamespace(): Promise<string> {
    return this.#stage.addNamespace();
  }

  /** Resolves with the pods once `check` returns true. */
  async untilPods(
    name: string,
    what: string,
    check: (pods: readonly PodSeen[]) => boolean,
  ): Promise<readonly PodSeen[]> {
    let pods: readonly PodSeen[] = [];
    await poll(async () => {
      pods = await this.pods(name);
      const phases = pods.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
      return check(pods) ? undefined : `there are ${phases.join(', ') || 'none'}`;
    }, what);
    return pods;
  }

  /** Resolves when exactly `count` pods exist and run. */
  untilRunning(name: string, count: number): Promise<readonly PodSeen[]> {
    const isRunning = ({ status, metadata }: PodSeen): boolean =>
      status?.phase === 'Running' && metadata.deletionTimestamp === undefined;
    return this.untilPods(name, `${count} pods run`, (pods) => pods.length === count && pods.every(isRunning));
  }

  /** Resolves with the status once it has all of `fields`; an undefined field must be absent. */
  async untilStatus(name: string, fields: Readonly<Record<string, unknown>>): Promise<JobStatus> {
    let status: JobStatus = {};
    await poll(
      async () => {
        ({ status = {} } = await this.#stage.client.get<WatchedJob>(this.#path(name)));
        const seen = status as Readonly<Record<string, unknown>>;
        const isSo = Object.entries(fields).every(
          ([field, value]) => JSON.stringify(seen[field]) === JSON.stringify(value),
        );
        return isSo ? undefined : `it is ${JSON.stringify(status)}`;
      },
      `the status of ${name} has ${JSON.stringify(fields)}`,
    );
    return status;
  }

  /** Waits for this condition and returns the status. */
  async untilCondition(name: string, type: string, status = 'True'): Promise<JobStatus> {
    let last: JobStatus = {};
    await poll(
      async () => {
        ({ status: last = {} } = await this.#stage.client.get<WatchedJob>(this.#path(name)));
        const isThere = last.conditions?.some((condition) => condition.type === type && condition.status === status);
        return isThere === true ? undefined : `it is ${JSON.stringify(last)}`;
      },
      `${name} is ${type}=${status}`,
      2 * hangsMs,
    );
    return last;
  }

  async untilGone(name: string): Promise<void> {
    await poll(async () => {
      const found = (await this.#jobsNow()).some(({ metadata }) => metadata.name === name);
      return found ? 'it still exists' : undefined;
    }, `${name} is gone`);
  }

  /** Returns the successive values of `pick` of the status so far, without repetitions. */
  async history<T>(name: string, pick: (status: JobStatus) => T): Promise<T[]> {
    const { namespace } = this.#stage;
    await poll(async () => {
      const now = (await this.#jobsNow()).find(({ metadata }) => metadata.name === name)?.metadata.resourceVersion;
      const shown = this.jobs.current.get(`${namespace}/${name}`)?.metadata.resourceVersion;
      return shown === now ? undefined : `it is at ${now ?? 'its end'}, the watch at ${shown ?? 'its end'}`;
    }, `the watch shows ${name} as it is`);
    const seen: T[] = [];
    for (const { object } of this.jobs.changes) {
      if (object.metadata.name !== name || object.metadata.namespace !== namespace) continue;
      const now = pick(object.status ?? {});
      if (seen.length === 0 || JSON.stringify(seen.at(-1)) !== JSON.stringify(now)) seen.push(now);
    }
    return seen;
  }

  /**
   * Resolves when the Job has exactly these Events, such as `Normal SuccessfulCreate`, in any order, each repeated as often as it occurred.
   */
  async untilEvents(name: string, expected: readonly string[]): Promise<void> {
    const wanted = [...expected].sort().join('\n');
    await poll(
      async () => {
        const { items } = await this.#stage.client.list(`/api/v1/namespaces/${this.#stage.namespace}/events`);
        const found = (items as any[])
          .filter(({ involvedObject }) => involvedObject.kind === 'Job' && involvedObject.name === name)
          .flatMap(({ type, reason, count, series }) =>
            Array.from({ length: Math.max(count ?? 1, series?.count ?? 1, 1) }, () => `${type} ${reason}`),
          );
        return found.sort().join('\n') === wanted ? undefined : `there are ${found.join(', ')}`;
      },
      `the Events of ${name} are ${expected.join(', ')}`,
    );
  }

  async #jobsNow(): Promise<readonly WatchedJob[]> {
    const { items } = await this.#stage.client.list(`/apis/batch/v1/namespaces/${this.#stage.namespace}/jobs`);
    return items as WatchedJob[];
  }

  #path(name: string): string {
    return objectPath(jobController, { namespace: this.#stage.namespace, name });
  }

  /** Deletes the Jobs while the Job controller still runs, because it releases the pods. */
  async #clear(): Promise<void> {
    const { namespace, client } = this.#stage;
    for (const { metadata } of await this.#jobsNow())
      await this.delete(metadata.name, 'Background').catch(() => undefined);
    await poll(async () => {
      const pods = await client.list(`/api/v1/namespaces/${namespace}/pods`);
      for (const { metadata } of pods.items as PodSeen[]) {
        const body = { gracePeriodSeconds: 0 };
        await client.delete(`/api/v1/namespaces/${namespace}/pods/${metadata.name}`, body).catch(() => undefined);
      }
      return pods.items.length === 0 ? undefined : `${pods.items.length} still exist`;
    }, 'the pods of the Jobs are gone');
  }
}
