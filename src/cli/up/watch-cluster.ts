import type { Informer, KubernetesObject } from '@kubernetes/client-node';
import { podGroupResource } from '../../api/pod-group.ts';
import { jitteredBackoff } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { createTypedApi } from '../../client/http-library.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { observeGroup, observeJob, observeNode, observePod } from './observed.ts';
import type { ClusterChange } from './story.ts';

export interface ClusterWatchOptions {
  /** Lists go through it; client-node's informers watch on connections of their own. */
  readonly client: KubeClient;
  readonly kubeconfigPath: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each change as it arrives, and for each object that is there at the start; must not throw. */
  readonly onChange: (change: ClusterChange) => void;
  /** A watch broke; it is started again by itself, later and later. */
  readonly onProblem: (resource: string, error: unknown) => void;
}

export interface ClusterWatch {
  /** Nothing is reported any more. */
  stop(): Promise<void>;
}

const restartBackoff = { initialMs: 250, maxMs: 30_000 };

/**
 * Watches nodes, pods, Jobs and PodGroups with client-node's own informers, as any tool of a user would. Resolves when what is there has been
 * reported and the watches are on their way.
 */
export async function watchCluster(options: ClusterWatchOptions): Promise<ClusterWatch> {
  const { onChange } = options;
  const { BatchV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(options.kubeconfigPath);

  const core = await createTypedApi(CoreV1Api, options.client);
  const pods = makeInformer(config, '/api/v1/pods', () => core.listPodForAllNamespaces());
  onEach(pods, (pod) => onChange({ kind: 'pod', pod: observePod(pod) }));
  pods.on('delete', (pod) => onChange({ kind: 'pod-gone', key: observePod(pod).key }));

  const nodes = makeInformer(config, '/api/v1/nodes', () => core.listNode());
  onEach(nodes, (node) => onChange({ kind: 'node', node: observeNode(node) }));
  nodes.on('delete', (node) => onChange({ kind: 'node-gone', name: observeNode(node).name }));

  const batch = await createTypedApi(BatchV1Api, options.client);
  const jobs = makeInformer(config, '/apis/batch/v1/jobs', () => batch.listJobForAllNamespaces());
  onEach(jobs, (job) => onChange({ kind: 'job', job: observeJob(job) }));
  jobs.on('delete', (job) => onChange({ kind: 'job-gone', key: observeJob(job).key }));

  const custom = await createTypedApi(CustomObjectsApi, options.client);
  const { group, version, plural } = podGroupResource;
  const groups = makeInformer(
    config,
    `/apis/${group}/${version}/${plural}`,
    () => custom.listClusterCustomObject({ group, version, plural }) as Promise<{ items: KubernetesObject[] }>,
  );
  onEach(groups, (object) => onChange({ kind: 'group', group: observeGroup(object) }));
  groups.on('delete', (object) => onChange({ kind: 'group-gone', key: observeGroup(object).key }));

  const running = [
    new RestartedInformer('nodes', nodes, options),
    new RestartedInformer('podgroups', groups, options),
    new RestartedInformer('jobs', jobs, options),
    new RestartedInformer('pods', pods, options),
  ];
  await Promise.all(running.map((informer) => informer.start()));
  return {
    async stop() {
      await Promise.all(running.map((informer) => informer.stop()));
    },
  };
}

function onEach<T extends KubernetesObject>(informer: Informer<T>, report: (object: T) => void): void {
  informer.on('add', report);
  informer.on('update', report);
}

/** An informer stops for good at most errors: this starts it again. */
class RestartedInformer {
  readonly #resource: string;
  readonly #informer: Informer<KubernetesObject>;
  readonly #options: ClusterWatchOptions;
  #failures = 0;
  #restart: Timer | undefined;
  #isStopped = false;

  constructor(resource: string, informer: Informer<KubernetesObject>, options: ClusterWatchOptions) {
    this.#resource = resource;
    this.#informer = informer;
    this.#options = options;
    // Its `connect` says that an attempt begins; only an object says that one works.
    informer.on('change', () => {
      this.#failures = 0;
    });
    informer.on('error', (error: unknown) => this.#failed(error));
  }

  start(): Promise<void> {
    return this.#informer.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#restart?.cancel();
    await this.#informer.stop();
  }

  #failed(error: unknown): void {
    // One restart at a time: an informer that is started twice watches twice.
    if (this.#isStopped || this.#restart !== undefined) return;
    const { clock, random, onProblem } = this.#options;
    onProblem(this.#resource, error);
    this.#restart = clock.setTimer(jitteredBackoff(restartBackoff, ++this.#failures, random), () => {
      this.#restart = undefined;
      this.#informer.start().catch((failure: unknown) => this.#failed(failure));
    });
  }
}
