import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import { podGroupPath, podGroupResource } from '../../../src/api/pod-group.ts';
import { AlreadyExistsError } from '../../../src/client/api-errors.ts';
import type { KubeClient } from '../../../src/client/kube-client.ts';

/** An object of a kind that creates pods, as a user wrote it. */
interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid?: string };
  // Each kind has its own unvalidated spec.
  readonly spec: any;
}

interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface MadePod {
  readonly name: string;
  readonly template: PodTemplate;
  readonly labels?: Readonly<Record<string, string>>;
}

interface MadeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

/** Current pods of a workload: name -> phase */
type Phases = ReadonlyMap<string, string>;

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The pods that its operator creates now. */
  readonly pods: (workload: Workload, phases: Phases) => MadePod[];
  /** minMember of the PodGroup that its operator creates. */
  readonly minMember?: (workload: Workload) => number;
}

/**
 * kind -> what its operator creates, as far as a scheduler sees it: which pods, from which templates of the manifest, under which names,
 * and when. No operator runs: this follows their documentation and sources.
 */
const kinds: Readonly<Record<string, Kind>> = {
  JobSet: {
    ...{ group: 'jobset.x-k8s.io', version: 'v1alpha2', plural: 'jobsets' },
    pods: ({ metadata, spec }) => podsOfJobSet(metadata.name, spec.replicatedJobs),
  },
  MPIJob: {
    ...{ group: 'kubeflow.org', version: 'v2beta1', plural: 'mpijobs' },
    pods({ metadata: { name }, spec: { mpiReplicaSpecs } }) {
      const { Launcher, Worker } = mpiReplicaSpecs;
      const launcher = { name: `${name}-launcher-${suffix(0)}`, template: Launcher.template };
      return [launcher, ...numbered(`${name}-worker`, Worker.replicas, Worker.template)];
    },
  },
  PyTorchJob: {
    ...{ group: 'kubeflow.org', version: 'v1', plural: 'pytorchjobs' },
    pods: ({ metadata, spec }) =>
      Object.entries(spec.pytorchReplicaSpecs).flatMap(([role, { replicas, template }]: any) =>
        numbered(`${metadata.name}-${role.toLowerCase()}`, replicas, template),
      ),
  },
  TrainingRuntime: {
    ...{ group: 'trainer.kubeflow.org', version: 'v1alpha1', plural: 'trainingruntimes' },
    pods: () => [],
  },
  TrainJob: {
    ...{ group: 'trainer.kubeflow.org', version: 'v1alpha1', plural: 'trainjobs' },
    pods({ metadata: { name }, spec }) {
      const [node] = spec.runtime.template.spec.replicatedJobs;
      const completions = spec.trainer.numNodes;
      const job = { completionMode: 'Indexed', completions, parallelism: completions, ...node.template.spec };
      const labels = { [podGroupLabel]: name };
      return podsOfJobSet(name, [{ ...node, template: { spec: job } }]).map((pod) => ({ ...pod, labels }));
    },
    minMember: ({ spec }) => spec.trainer.numNodes,
  },
  RayCluster: {
    ...{ group: 'ray.io', version: 'v1', plural: 'rayclusters' },
    pods: ({ metadata: { name }, spec }) => [
      { name: `${name}-head`, template: spec.headGroupSpec.template },
      ...spec.workerGroupSpecs.flatMap(({ groupName, replicas, template }: any) =>
        numbered(`${name}-${groupName}-worker`, replicas, template, suffix),
      ),
    ],
  },
  SparkApplication: {
    ...{ group: 'sparkoperator.k8s.io', version: 'v1beta2', plural: 'sparkapplications' },
    pods({ metadata: { name }, spec }, phases) {
      const driver = { name: `${name}-driver`, template: sparkPod(spec, spec.driver) };
      const executors = numbered(`${name}-exec`, spec.executor.instances, sparkPod(spec, spec.executor));
      // The driver requests its executors once it runs.
      return phases.get(driver.name) === 'Running' ? [driver, ...executors] : [driver];
    },
  },
};

/** Builds the template that Spark derives from its settings: the manifest has none. */
function sparkPod({ image, sparkConf }: any, { cores, labels }: any): PodTemplate {
  const resources = { requests: { cpu: String(cores) } };
  return {
    metadata: { labels },
    spec: {
      schedulerName: sparkConf['spark.kubernetes.scheduler.name'],
      restartPolicy: 'Never',
      containers: [{ name: 'spark', image, resources }],
    },
  };
}

function podsOfJobSet(name: string, replicatedJobs: readonly any[]): MadePod[] {
  return replicatedJobs.flatMap(({ name: role, replicas = 1, template }) =>
    Array.from({ length: replicas }, (_, index) =>
      podsOfJob(`${name}-${role}-${index}`, { completionMode: 'Indexed', ...template.spec }),
    ).flat(),
  );
}

function podsOfJob(name: string, { completionMode, parallelism, completions, template }: any): MadePod[] {
  const count = Math.min(parallelism ?? 1, completions ?? Infinity);
  const isIndexed = completionMode === 'Indexed';
  return numbered(name, count, template, (index) => (isIndexed ? `${index}-${suffix(index)}` : suffix(index)));
}

function numbered(
  name: string,
  count: number,
  template: PodTemplate,
  nameOf: (index: number) => string = String,
): MadePod[] {
  return Array.from({ length: count }, (_, index) => ({ name: `${name}-${nameOf(index)}`, template }));
}

/** Returns a suffix that a controller would generate; here it is always the same. */
function suffix(index: number): string {
  return `x${index}k2p`;
}

const intervalMs = 50;

/** Simulates operators on an API server that only stores their objects. It does not recreate deleted pods. */
export class StandInOperators {
  readonly #client: KubeClient;
  readonly #made = new Set<string>();
  #stopped = false;
  #turning: Promise<void> = Promise.resolve();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Creates CRDs with arbitrary fields for the kinds that no API server has by default. */
  async start(): Promise<void> {
    for (const [kind, { group, version, plural }] of Object.entries(kinds)) {
      const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      const schema = { openAPIV3Schema: anything };
      await this.#client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
          versions: [{ name: version, served: true, storage: true, schema }],
        },
      });
    }
    this.#turning = this.#turn();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#turning;
  }

  async #turn(): Promise<void> {
    while (!this.#stopped) {
      for (const [kind, definition] of Object.entries(kinds)) {
        for (const workload of await this.#workloadsOf(kind, definition)) await this.#reconcile(definition, workload);
      }
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
  }

  async #workloadsOf(kind: string, { group, version, plural }: Kind): Promise<readonly Workload[]> {
    const { items } = await this.#client.list(`/apis/${group}/${version}/${plural}`);
    return (items as Omit<Workload, 'apiVersion' | 'kind'>[]).map((item) => ({
      ...item,
      apiVersion: `${group}/${version}`,
      kind,
    }));
  }

  async #reconcile(kind: Kind, workload: Workload): Promise<void> {
    const { namespace, name } = workload.metadata;
    const resolved = workload.kind === 'TrainJob' ? await this.#withRuntime(workload) : workload;
    if (kind.minMember !== undefined) {
      const { apiVersion, kind: podGroup } = podGroupResource;
      const spec = { minMember: kind.minMember(resolved) };
      await this.#create(podGroupPath(namespace), { apiVersion, kind: podGroup, metadata: { name }, spec });
    }
    const { items } = await this.#client.list(`/api/v1/namespaces/${namespace}/pods`);
    const phases = new Map((items as any[]).map(({ metadata, status }) => [metadata.name, status?.phase]));
    for (const { name: podName, template, labels } of kind.pods(resolved, phases)) {
      await this.#create(`/api/v1/namespaces/${namespace}/pods`, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: podName, labels: { ...template.metadata?.labels, ...labels } },
        spec: template.spec,
      });
    }
  }

  async #withRuntime(workload: Workload): Promise<Workload> {
    const { namespace } = workload.metadata;
    const path = `/apis/trainer.kubeflow.org/v1alpha1/namespaces/${namespace}/trainingruntimes`;
    const runtime = await this.#client.get<Workload>(`${path}/${workload.spec.runtimeRef.name}`);
    return { ...workload, spec: { ...workload.spec, runtime: runtime.spec } };
  }

  async #create(collection: string, object: MadeObject): Promise<void> {
    const path = `${collection}/${object.metadata.name}`;
    if (this.#made.has(path)) return;
    this.#made.add(path);
    await this.#client.create(collection, object).catch((error: unknown) => {
      if (!(error instanceof AlreadyExistsError)) throw error;
    });
  }
}
