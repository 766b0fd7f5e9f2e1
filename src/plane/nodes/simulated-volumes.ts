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
  /** For the jitter of retries only. */
  readonly random: Random;
  /** Provisioners of StorageClasses for which it makes volumes; for others somebody else does, or nobody. */
  readonly provisioners: readonly string[];
  /** The node label whose value tells where a volume that was made for a node can be reached from. Default: the zone. */
  readonly topologyKey?: string;
  /** How long making a volume takes, in milliseconds. Default 0. */
  readonly latencyMs?: number;
  /** Told of what went wrong and is tried again. Default: nobody is. */
  readonly onProblem?: OnSimulationProblem;
}

/** What a StorageClass names as its provisioner to have its volumes made by simulation. */
export const simulatedProvisioner = 'tutti.dev/simulated';

/** What its volumes name as their CSI driver. */
const driver = 'simulated.tutti.dev';
/** After something went wrong. */
const againMs = 100;

/**
 * What binds volumes and claims to each other, and what makes volumes, as an ordinary API client: a stand-in for the controllers that a
 * cluster has for both. A volume that is kept for a claim is bound to it; a claim that need not wait for a pod gets the smallest volume
 * that is there, or one that is made; for one that waits a volume is made when a node has been chosen for it.
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

  /** Resolves when it has seen what there is. */
  async start(): Promise<void> {
    const all = [this.#claims, this.#volumes, this.#classes];
    for (const reflector of all) reflector.start();
    await Promise.all(all.map((reflector) => reflector.synced()));
    this.#isSynced = true;
    this.#wake();
  }

  /** Resolves when nothing is under way. Objects stay. */
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

  /** Until there is nothing to do in what is known. */
  async #work(): Promise<void> {
    const { signal } = this.#stop;
    while (this.#isDirty && !signal.aborted) {
      this.#isDirty = false;
      for (const volume of [...this.#volumes.store.values()]) await this.#try(volume.name, () => this.#offer(volume));
      for (const claim of [...this.#claims.store.values()]) {
        await this.#try(`${claim.namespace}/${claim.name}`, () => this.#serve(claim));
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
          message: 'a volume could not be bound or made, which is tried again',
          subject,
          error: toError(error),
        });
      }
      await wait(this.#options.clock, againMs, signal).catch(() => undefined);
    }
  }

  /** A new volume that nobody has. */
  async #offer(volume: PersistentVolume): Promise<void> {
    if (volume.claim !== undefined || volume.isAvailable || volume.deleting) return;
    await this.#patch(`${volumePath(volume.name)}/status`, { status: { phase: 'Available' } });
  }

  async #serve(claim: PersistentVolumeClaim): Promise<void> {
    if (claim.isBound || claim.deleting) return;
    const volumes = [...this.#volumes.store.values()].filter(({ deleting }) => !deleting);
    const own = volumes.find((volume) => isVolumeOf(volume, claim));
    if (own !== undefined) return this.#bind(own, claim);
    if (claim.volumeName !== '') {
      const wanted = volumes.find(({ name, claim: other }) => name === claim.volumeName && other === undefined);
      return wanted === undefined ? undefined : this.#keep(wanted, claim);
    }
    const storageClass = [...this.#classes.store.values()].find(({ name }) => name === claim.className);
    const isDelayed = storageClass !== undefined && waitsForConsumer(storageClass);
    if (isDelayed && claim.selectedNode === undefined) return;
    const there = isDelayed ? undefined : smallestFor(claim, volumes);
    if (there !== undefined) return this.#keep(there, claim);
    const isOurs = storageClass !== undefined && this.#options.provisioners.includes(storageClass.provisioner);
    if (isOurs) await this.#make(claim);
  }

  async #keep({ name, resourceVersion }: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const metadata = { resourceVersion, annotations: { [boundByControllerAnnotation]: 'yes' } };
    await this.#patch(volumePath(name), { metadata, spec: { claimRef: referenceTo(claim) } });
  }

  async #bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    // Kept for whichever claim has the name: now it is this one.
    if (volume.claim!.uid === '') await this.#keep(volume, claim);
    const { name, accessModes, capacity } = volume;
    const path = claimPath(claim);
    const annotations = { [bindCompletedAnnotation]: 'yes', [boundByControllerAnnotation]: 'yes' };
    await this.#patch(path, { metadata: { uid: claim.uid, annotations }, spec: { volumeName: name } });
    const status = { phase: 'Bound', accessModes, capacity: { storage: bytes(capacity) } };
    await this.#patch(`${path}/status`, { status });
    await this.#patch(`${volumePath(name)}/status`, { status: { phase: 'Bound' } });
  }

  async #make(claim: PersistentVolumeClaim): Promise<void> {
    const { clock, latencyMs = 0, topologyKey = 'topology.kubernetes.io/zone' } = this.#options;
    if (latencyMs > 0) await wait(clock, latencyMs, this.#stop.signal);
    const where = claim.selectedNode === undefined ? undefined : await this.#labelOf(claim.selectedNode, topologyKey);
    const expression = { key: topologyKey, operator: 'In', values: [where] };
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
        ...(where !== undefined && { nodeAffinity }),
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
