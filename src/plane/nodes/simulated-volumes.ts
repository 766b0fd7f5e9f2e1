import {
  bindCompletedAnnotation,
  boundByControllerAnnotation,
  projectPersistentVolumeClaim,
} from '../../api/persistent-volume-claim.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { isVolumeOf, projectPersistentVolume } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import { formatQuantity } from '../../api/quantity.ts';
import { projectStorageClass, waitsForConsumer } from '../../api/storage-class.ts';
import type { StorageClass } from '../../api/storage-class.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { toError } from '../../base/to-error.ts';
import { AlreadyExistsError, ConflictError, NotFoundError } from '../../client/api-errors.ts';
import { KubeClient } from '../../client/kube-client.ts';
import type { Transport } from '../../client/transport.ts';
import { wait } from '../../client/wait.ts';
import type { Reflector } from '../../informer/reflector.ts';
import { simulatedReflector } from './simulated-reflector.ts';
import type { OnSimulationProblem } from './simulation-problem.ts';

export interface SimulatedVolumesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Used only for the jitter of retries. */
  readonly random: Random;
  /** Provisioner names of the StorageClasses whose volumes to provision. Other classes need a provisioner of their own. */
  readonly provisioners: readonly string[];
  /** Node label that limits access to a volume provisioned for a node: nodes with the same value can access it. Default: the zone. */
  readonly topologyKey?: string;
  /** How long it takes to provision a volume, in milliseconds. Default 0. */
  readonly latencyMs?: number;
  /** Called with each error that is being retried. Default: ignores them. */
  readonly onProblem?: OnSimulationProblem;
}

/** Provisioner name for StorageClasses whose volumes are simulated. */
export const simulatedProvisioner = 'tutti.dev/simulated';

/** CSI driver of simulated volumes. */
const driver = 'simulated.tutti.dev';
/** Delay after an error. */
const retryDelayMs = 100;

/**
 * Binds and provisions volumes as an ordinary API client, in place of a cluster's PersistentVolume controller and provisioner. A volume
 * reserved for a claim is bound to it. A claim with immediate binding gets the smallest available volume that fits, or else a new one. For a
 * claim that waits for its first consumer, a volume is provisioned once a node is selected.
 */
export class SimulatedVolumes {
  readonly #options: SimulatedVolumesOptions;
  readonly #client: KubeClient;
  readonly #stop = new AbortController();
  readonly #claims: Reflector<PersistentVolumeClaim>;
  readonly #volumes: Reflector<PersistentVolume>;
  readonly #classes: Reflector<StorageClass>;
  #isSynced = false;
  #isDirty = false;
  #working: Promise<void> | undefined;

  constructor(options: SimulatedVolumesOptions) {
    const { transport, clock } = options;
    this.#options = options;
    this.#client = new KubeClient({ transport, clock, userAgent: 'tutti-simulated-volumes' });
    this.#claims = this.#reflector('/api/v1/persistentvolumeclaims', projectPersistentVolumeClaim);
    this.#volumes = this.#reflector('/api/v1/persistentvolumes', projectPersistentVolume);
    this.#classes = this.#reflector('/apis/storage.k8s.io/v1/storageclasses', projectStorageClass);
  }

  /** Resolves when the initial lists are complete. */
  async start(): Promise<void> {
    const all = [this.#claims, this.#volumes, this.#classes];
    for (const reflector of all) reflector.start();
    await Promise.all(all.map((reflector) => reflector.synced()));
    this.#isSynced = true;
    this.#wake();
  }

  /** Resolves when no call is in progress. Objects remain. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the simulated volumes are stopped'));
    await Promise.all([this.#claims.stop(), this.#volumes.stop(), this.#classes.stop(), this.#working]);
  }

  #reflector<T>(path: string, project: (raw: unknown) => T): Reflector<T> {
    const changed = (): void => this.#wake();
    const handler = { onAdd: changed, onUpdate: changed, onDelete: changed };
    return simulatedReflector<T>({ ...this.#options, client: this.#client }, { path, project, handler });
  }

  #wake(): void {
    this.#isDirty = true;
    if (!this.#isSynced || this.#working !== undefined) return;
    this.#working = this.#work().finally(() => (this.#working = undefined));
  }

  /** Works until the known objects require no more changes. */
  async #work(): Promise<void> {
    const { signal } = this.#stop;
    while (this.#isDirty && !signal.aborted) {
      this.#isDirty = false;
      for (const volume of [...this.#volumes.store.values()])
        await this.#try(volume.name, () => this.#markAvailable(volume));
      for (const claim of [...this.#claims.store.values()]) {
        await this.#try(`${claim.namespace}/${claim.name}`, () => this.#reconcileClaim(claim));
      }
    }
  }

  async #try(subject: string, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    try {
      await act();
    } catch (error) {
      if (signal.aborted) return;
      this.#isDirty = true;
      const isRace = [ConflictError, NotFoundError, AlreadyExistsError].some((race) => error instanceof race);
      if (!isRace) {
        this.#options.onProblem?.({
          message: 'cannot bind or provision volume; retrying',
          subject,
          error: toError(error),
        });
      }
      await wait(this.#options.clock, retryDelayMs, signal).catch(() => undefined);
    }
  }

  /** Marks a new volume without a claim as available. */
  async #markAvailable(volume: PersistentVolume): Promise<void> {
    if (volume.claim !== undefined || volume.isAvailable || volume.deleting) return;
    await this.#patch(`${volumePath(volume.name)}/status`, { status: { phase: 'Available' } });
  }

  async #reconcileClaim(claim: PersistentVolumeClaim): Promise<void> {
    if (claim.isBound || claim.deleting) return;
    const volumes = [...this.#volumes.store.values()].filter(({ deleting }) => !deleting);
    const own = volumes.find((volume) => isVolumeOf(volume, claim));
    if (own !== undefined) return this.#bind(own, claim);
    if (claim.volumeName !== '') {
      const wanted = volumes.find(({ name, claim: other }) => name === claim.volumeName && other === undefined);
      return wanted === undefined ? undefined : this.#reserve(wanted, claim);
    }
    const storageClass = [...this.#classes.store.values()].find(({ name }) => name === claim.className);
    const isDelayed = storageClass !== undefined && waitsForConsumer(storageClass);
    if (isDelayed && claim.selectedNode === undefined) return;
    const available = isDelayed ? undefined : smallestFor(claim, volumes);
    if (available !== undefined) return this.#reserve(available, claim);
    const isSimulated = storageClass !== undefined && this.#options.provisioners.includes(storageClass.provisioner);
    if (isSimulated) await this.#provision(claim);
  }

  async #reserve({ name, resourceVersion }: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const metadata = { resourceVersion, annotations: { [boundByControllerAnnotation]: 'yes' } };
    await this.#patch(volumePath(name), { metadata, spec: { claimRef: referenceTo(claim) } });
  }

  async #bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    // The volume is reserved by claim name only: add the uid of this claim.
    if (volume.claim!.uid === '') await this.#reserve(volume, claim);
    const { name, accessModes, capacity } = volume;
    const path = claimPath(claim);
    const annotations = { [bindCompletedAnnotation]: 'yes', [boundByControllerAnnotation]: 'yes' };
    await this.#patch(path, { metadata: { uid: claim.uid, annotations }, spec: { volumeName: name } });
    const status = { phase: 'Bound', accessModes, capacity: { storage: bytes(capacity) } };
    await this.#patch(`${path}/status`, { status });
    await this.#patch(`${volumePath(name)}/status`, { status: { phase: 'Bound' } });
  }

  async #provision(claim: PersistentVolumeClaim): Promise<void> {
    const { clock, latencyMs = 0, topologyKey = 'topology.kubernetes.io/zone' } = this.#options;
    if (latencyMs > 0) await wait(clock, latencyMs, this.#stop.signal);
    const topologyValue =
      claim.selectedNode === undefined ? undefined : await this.#labelOf(claim.selectedNode, topologyKey);
    const expression = { key: topologyKey, operator: 'In', values: [topologyValue] };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } };
    const name = `pvc-${claim.uid}`;
    await this.#client.create('/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': simulatedProvisioner } },
      spec: {
        accessModes: claim.accessModes,
        capacity: { storage: bytes(claim.requested ?? 0) },
        claimRef: referenceTo(claim),
        csi: { driver, volumeHandle: name },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: claim.className,
        volumeMode: claim.volumeMode,
        ...(topologyValue !== undefined && { nodeAffinity }),
      },
    });
  }

  async #labelOf(nodeName: string, key: string): Promise<string | undefined> {
    interface RawNode {
      readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
    }
    const path = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
    const { metadata } = await this.#client.get<RawNode>(path, { signal: this.#stop.signal });
    return metadata.labels?.[key];
  }

  #patch(path: string, patch: object): Promise<unknown> {
    return this.#client.patch(path, 'merge', patch, { signal: this.#stop.signal });
  }
}

function smallestFor(claim: PersistentVolumeClaim, volumes: readonly PersistentVolume[]): PersistentVolume | undefined {
  const fitting = volumes.filter(
    (volume) =>
      volume.claim === undefined &&
      volume.isAvailable &&
      volume.group === claim.className &&
      volume.volumeMode === claim.volumeMode &&
      volume.capacity >= (claim.requested ?? 0) &&
      claim.accessModes.every((mode) => volume.accessModes.includes(mode)),
  );
  return fitting.sort((a, b) => a.capacity - b.capacity || (a.name < b.name ? -1 : 1))[0];
}

/** As users write it: `1Gi`. */
function bytes(count: number): string {
  return formatQuantity({ unscaled: count, scale: 0, format: 'binary' });
}

function referenceTo({ namespace, name, uid }: PersistentVolumeClaim): object {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
}

function volumePath(name: string): string {
  return `/api/v1/persistentvolumes/${encodeURIComponent(name)}`;
}

function claimPath({ namespace, name }: PersistentVolumeClaim): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/persistentvolumeclaims/${encodeURIComponent(name)}`;
}
