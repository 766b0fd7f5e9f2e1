import type { Basis, PartError, Unknown } from '../../api/explain/basis.ts';
import { listedPath, projectListed } from '../../api/listed-object.ts';
import type { ListedKind } from '../../api/listed-object.ts';
import { nativePodGroupPath, nativeVersions, projectNativePodGroup } from '../../api/native-pod-group.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { clusterVersion } from '../../cluster/cluster-version.ts';
import type { SchedulerConfiguration } from '../../config/scheduler-configuration.ts';
import { ProfileError } from '../../framework/profile-error.ts';
import { pluginRegistry } from '../../plugins/registry.ts';
import { projectionsFor } from '../../scheduler/projections.ts';
import type { SchedulerCore } from '../../scheduler/scheduler-core.ts';
import { createReadOnlyCore } from '../read-only-core.ts';
import { CollectionLister } from './collection-lister.ts';
import { HiddenClusterError } from './hidden-cluster-error.ts';
import { assumedConfiguration, installedConfiguration } from './installed-configuration.ts';
import type { InstalledConfiguration, InstalledConfigurationOptions } from './installed-configuration.ts';
import { retryWhenGone } from './retry-when-gone.ts';

export interface ClusterStateOptions extends InstalledConfigurationOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly random: Random;
  /** If the caller may not list the nodes and pods, only the pods and groups of these namespaces are listed, and no nodes. */
  readonly orNamespaces?: readonly string[];
}

/** A copy of the cluster state, as a scheduler that has just started sees it. */
export interface ClusterState {
  /** It writes nothing to the cluster. Its queue is empty until `begin`. Call `stop` at the end. */
  readonly core: SchedulerCore;
  readonly basis: Basis;
  /** Kinds that could not be listed, and objects that are malformed and were left out. */
  readonly errors: readonly PartError[];
  /** The one that the core was built from. */
  readonly configuration: SchedulerConfiguration;
  /** Why only the pods and groups of some namespaces are in the core. Absent: it has everything. */
  readonly hidden?: HiddenClusterError;
}

/** What remains unknown without the nodes and the pods of others. */
const hiddenUnknowns: readonly Unknown[] = [
  'assumedPods',
  'hiddenNodes',
  'hiddenPods',
  'queueOrder',
  'reservations',
  'volumes',
];

/** Kinds whose absence leaves a volume unknown. */
const storageKinds: ReadonlySet<ListedKind> = new Set([
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'CSINode',
  'CSIDriver',
  'CSIStorageCapacity',
  'VolumeAttachment',
]);

/**
 * Lists everything that the scheduler reads, and fills a core with it. It keeps no page while it reads the next one. The core is built from
 * the configuration that the chart has installed; `unknowns` says what of it could not be read or run here. Rejects with HiddenClusterError
 * if the caller may not list the nodes and pods and `orNamespaces` is absent, and with the client's errors.
 */
export async function loadClusterState(options: ClusterStateOptions): Promise<ClusterState> {
  const installed = await installedConfiguration(options);
  try {
    return await retryWhenGone(() => load(options, installed));
  } catch (error) {
    const { orNamespaces } = options;
    if (!(error instanceof HiddenClusterError) || orNamespaces === undefined) throw error;
    return retryWhenGone(() => loadNamespaces(orNamespaces, error, options, installed));
  }
}

async function load(options: ClusterStateOptions, installed: InstalledConfiguration): Promise<ClusterState> {
  const { clock } = options;
  const takenAt = clock.now();
  const { core, configuration, unknowns: ofConfiguration } = createCore(options, installed);
  const unknowns = new Set<Unknown>([...ofConfiguration, 'assumedPods', 'reservations', 'queueOrder']);
  const errors: PartError[] = [];
  const { handlers, profiles } = core;
  const project = projectionsFor(core);
  const lister = new CollectionLister(options, errors);
  const kinds = [...profiles.reads].map(async (kind) => {
    const add = (raw: unknown): void => handlers.listed.onAdd(projectListed(kind, raw));
    const outcome = await lister.fill(listedPath(kind), add);
    if (outcome === 'forbidden' && storageKinds.has(kind)) unknowns.add('volumes');
  });
  await Promise.all([
    lister.fillVisible('nodes', '/api/v1/nodes', (raw) => handlers.nodes.onAdd(project.node(raw))),
    lister.fillVisible('the pods of all namespaces', '/api/v1/pods', (raw) => handlers.pods.onAdd(project.pod(raw))),
    lister.fill(podGroupPath(), (raw) => handlers.podGroups.onAdd(project.podGroup(raw))),
    lister.fillFirst(
      nativeVersions.map((version) => nativePodGroupPath(version)),
      (raw) => handlers.podGroups.onAdd(project.nativePodGroup(projectNativePodGroup(raw))),
    ),
    ...kinds,
  ]);
  const basis: Basis = {
    source: 'api',
    takenAt: new Date(takenAt).toISOString(),
    ageSeconds: Math.max(0, clock.now() - takenAt) / 1000,
    version: clusterVersion(core.cluster),
    unknowns: [...unknowns].sort(),
  };
  return { core, configuration, basis, errors: errors.sort((a, b) => (a.part < b.part ? -1 : 1)) };
}

/** Lists what a user sees who works in some namespaces. The caller may not be allowed to list all of it there either. */
async function loadNamespaces(
  namespaces: readonly string[],
  hidden: HiddenClusterError,
  options: ClusterStateOptions,
  installed: InstalledConfiguration,
): Promise<ClusterState> {
  const { clock } = options;
  const takenAt = clock.now();
  const { core, configuration, unknowns: ofConfiguration } = createCore(options, installed);
  const errors: PartError[] = [];
  const { handlers } = core;
  const project = projectionsFor(core);
  const lister = new CollectionLister(options, errors);
  for (const namespace of new Set(namespaces)) {
    const podPath = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    await lister.fill(podPath, (raw) => handlers.pods.onAdd(project.pod(raw)));
    await lister.fill(podGroupPath(namespace), (raw) => handlers.podGroups.onAdd(project.podGroup(raw)));
    await lister.fillFirst(
      nativeVersions.map((version) => nativePodGroupPath(version, namespace)),
      (raw) => handlers.podGroups.onAdd(project.nativePodGroup(projectNativePodGroup(raw))),
    );
  }
  const unknowns = new Set<Unknown>([...ofConfiguration, ...hiddenUnknowns]);
  return {
    core,
    configuration,
    basis: {
      source: 'api',
      takenAt: new Date(takenAt).toISOString(),
      ageSeconds: Math.max(0, clock.now() - takenAt) / 1000,
      unknowns: [...unknowns].sort(),
    },
    errors,
    hidden,
  };
}

/** Creates the core. A configuration that does not work without the plugins of others is replaced with the default one. */
function createCore(
  { clock, random, schedulerNames }: ClusterStateOptions,
  { configuration, unknowns }: InstalledConfiguration,
): Pick<ClusterState, 'core' | 'configuration'> & { readonly unknowns: readonly Unknown[] } {
  const plugins = pluginRegistry;
  const { profiles, podBackoff: backoff } = configuration;
  try {
    return { core: createReadOnlyCore({ profiles, plugins, backoff, clock, random }), configuration, unknowns };
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    const names = schedulerNames ?? profiles.map(({ schedulerName }) => schedulerName);
    const assumed = assumedConfiguration(names).profiles;
    const core = createReadOnlyCore({ profiles: assumed, plugins, backoff, clock, random });
    return { core, configuration: { ...configuration, profiles: assumed }, unknowns: [...unknowns, 'configuration'] };
  }
}
