import { podGroupPath } from '../../../src/api/pod-group.ts';
import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import type { Random } from '../../../src/base/random.ts';
import type { KubeClient } from '../../../src/client/kube-client.ts';
import { schedulerName } from '../../scenarios/pod-manifest.ts';

/** The shapes of jobs: share of the jobs, and the ranges of pods, CPUs per pod and seconds that they run. */
const shapes = [
  { share: 0.7, pods: [1, 1], cpu: [1, 4], seconds: [10, 60] },
  { share: 0.25, pods: [2, 8], cpu: [2, 2], seconds: [20, 90] },
  { share: 0.05, pods: [8, 16], cpu: [4, 4], seconds: [60, 120] },
] as const;

/** What a pod declares exceeds its run time: kwok and the controllers take a few seconds too. */
const marginSeconds = 10;

export interface JobLoadOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly random: Random;
  /** CPUs of the cluster. */
  readonly cpu: number;
  /** Requested CPU time per second, as a share of the CPUs. */
  readonly load: number;
  /** Returns the number of pods and groups that wait now. No job is created while it is too large. */
  readonly waiting: () => number;
  readonly maxWaiting: number;
}

interface DrawnJob {
  readonly name: string;
  readonly pods: number;
  readonly cpu: number;
  readonly seconds: number;
}

/**
 * Creates Jobs at random times so that they request a share of the cluster on average: single pods and gangs. Each pod declares by
 * `activeDeadlineSeconds` or by annotation how long it runs at most. kube-controller-manager deletes finished Jobs, with their PodGroups.
 */
export class JobLoad {
  readonly #options: JobLoadOptions;
  #created = 0;
  #held = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: JobLoadOptions) {
    this.#options = options;
  }

  /** Number of Jobs so far. */
  get created(): number {
    return this.#created;
  }

  /** Number of them that were created late, because too many others waited. */
  get held(): number {
    return this.#held;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops creating Jobs; rejects with the error of the load, if any. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { random, cpu, load, waiting, maxWaiting } = this.#options;
    const meanSeconds = meanWork() / (cpu * load);
    let due = performance.now();
    while (!this.#stopped) {
      due += -Math.log(1 - random()) * meanSeconds * 1000;
      while (performance.now() < due && !this.#stopped) await pause(50);
      if (waiting() >= maxWaiting) {
        this.#held++;
        while (waiting() >= maxWaiting && !this.#stopped) await pause(200);
        due = performance.now();
      }
      if (!this.#stopped) await this.#create(this.#draw());
    }
  }

  #draw(): DrawnJob {
    const { random } = this.#options;
    let rest = random();
    const { pods, cpu, seconds } = shapes.find(({ share }) => (rest -= share) < 0) ?? shapes[0];
    const within = ([least, most]: readonly [number, number]): number =>
      least + Math.floor(random() * (most - least + 1));
    return { name: `job-${++this.#created}`, pods: within(pods), cpu: within(cpu), seconds: within(seconds) };
  }

  async #create({ name, pods, cpu, seconds }: DrawnJob): Promise<void> {
    const { client, namespace, random } = this.#options;
    const declared = Math.ceil(seconds * (1 + 0.3 * random())) + marginSeconds;
    const hasDeadline = random() < 0.5;
    const isGang = pods > 1;
    const { metadata } = await client.create<{ readonly metadata: { readonly uid: string } }>(
      `/apis/batch/v1/namespaces/${namespace}/jobs`,
      {
        metadata: { name },
        spec: {
          ...{ parallelism: pods, completions: pods, ttlSecondsAfterFinished: 10 },
          template: {
            metadata: {
              labels: isGang ? { [podGroupLabel]: name } : {},
              annotations: {
                'tutti-tests/run-duration': `${seconds}s`,
                ...(!hasDeadline && { 'tutti.dev/runtime': `${declared}s` }),
              },
            },
            spec: {
              ...(hasDeadline && { activeDeadlineSeconds: declared }),
              schedulerName,
              restartPolicy: 'Never',
              terminationGracePeriodSeconds: 0,
              containers: [
                { name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu: String(cpu) } } },
              ],
            },
          },
        },
      },
    );
    if (!isGang) return;
    await client.create(podGroupPath(namespace), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name, ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: metadata.uid }] },
      spec: { minMember: pods },
    });
  }
}

/** Mean CPU seconds of a job. */
function meanWork(): number {
  const mean = ([least, most]: readonly [number, number]): number => (least + most) / 2;
  return shapes.reduce((sum, { share, pods, cpu, seconds }) => sum + share * mean(pods) * mean(cpu) * mean(seconds), 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
