import { projectListed } from '../../api/listed-object.ts';
import type { ListedObject } from '../../api/listed-object.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { VolumeWriter } from '../../framework/plugin-handle.ts';
import type { Scheduling } from '../../testkit/scheduling.ts';
import { affinityTo } from './drawn-storage.ts';

/**
 * Accepts each write of a volume and completes it at once, like the PersistentVolume controller and a provisioner whose volumes only the chosen
 * node can access.
 */
export class VolumeController implements VolumeWriter {
  readonly #scheduling: () => Scheduling;
  /** Versions of the objects as they were added are lower. */
  #latestVersion = 1_000;

  /** `scheduling` gets the watch events. It is called at the first write. */
  constructor(scheduling: () => Scheduling) {
    this.#scheduling = scheduling;
  }

  bind(volume: PersistentVolume, { namespace, name, uid }: PersistentVolumeClaim): Promise<string> {
    const resourceVersion = this.#nextVersion();
    this.#show({ ...volume, claim: { namespace, name, uid }, resourceVersion });
    this.#bindClaim(namespace, name, { volumeName: volume.name });
    return Promise.resolve(resourceVersion);
  }

  provision({ namespace, name, uid }: PersistentVolumeClaim, selectedNode: string): Promise<string> {
    const volumeName = `made-for-${name}`;
    const raw = {
      metadata: { name: volumeName, resourceVersion: this.#nextVersion() },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany'],
        csi: { driver: 'csi.example', volumeHandle: volumeName },
        claimRef: { namespace, name, uid },
        nodeAffinity: affinityTo('kubernetes.io/hostname', selectedNode),
      },
      status: { phase: 'Bound' },
    };
    this.#show(projectListed('PersistentVolume', raw));
    return Promise.resolve(this.#bindClaim(namespace, name, { volumeName, selectedNode }));
  }

  #bindClaim(namespace: string, name: string, change: Partial<PersistentVolumeClaim>): string {
    const claim = this.#scheduling().harness.cluster.listed.get('PersistentVolumeClaim', namespace, name)!;
    const resourceVersion = this.#nextVersion();
    this.#show({ ...claim, ...change, isBound: true, resourceVersion });
    return resourceVersion;
  }

  #show(object: ListedObject): void {
    const { core, cluster } = this.#scheduling().harness;
    const namespace = 'namespace' in object ? object.namespace : '';
    const old = cluster.listed.get(object.kind, namespace, object.name);
    if (old === undefined) core.handlers.listed.onAdd(object);
    else core.handlers.listed.onUpdate(old, object);
  }

  #nextVersion(): string {
    return String(++this.#latestVersion);
  }
}
