import {
  boundByControllerAnnotation,
  projectPersistentVolumeClaim,
  selectedNodeAnnotation,
} from '../../api/persistent-volume-claim.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { isVolumeOf, projectPersistentVolume } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ConflictError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { VolumeWriter } from '../../framework/plugin-handle.ts';

export interface ApiVolumeWriterOptions {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** How often an object is read again because another client has changed it in the meantime. */
const maxConflicts = 5;

/** Treats existing values as written: an earlier call may have lost its response, or another pod may use the same claim. */
export class ApiVolumeWriter implements VolumeWriter {
  readonly #options: ApiVolumeWriterOptions;

  constructor(options: ApiVolumeWriterOptions) {
    this.#options = options;
  }

  bind(
    volume: PersistentVolume,
    claim: PersistentVolumeClaim,
    { isOurChoice, signal }: { readonly isOurChoice: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    const { namespace, name, uid } = claim;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    return this.#write({
      path: `/api/v1/persistentvolumes/${encodeURIComponent(volume.name)}`,
      resourceVersion: volume.resourceVersion,
      patch: (resourceVersion) => ({
        metadata: {
          resourceVersion,
          ...(isOurChoice && { annotations: { [boundByControllerAnnotation]: 'yes' } }),
        },
        spec: { claimRef },
      }),
      isWritten: (raw) => {
        const now = projectPersistentVolume(raw);
        if (now.claim !== undefined && !isVolumeOf(now, claim)) {
          const { namespace: of, name: other } = now.claim;
          throw new Error(`persistentvolume "${volume.name}" is already bound to claim "${of}/${other}"`);
        }
        return now.claim?.uid === uid;
      },
      signal,
    });
  }

  provision(claim: PersistentVolumeClaim, nodeName: string, signal: AbortSignal): Promise<string> {
    const { namespace, name, uid, resourceVersion: known } = claim;
    const key = `${namespace}/${name}`;
    return this.#write({
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/persistentvolumeclaims/${encodeURIComponent(name)}`,
      resourceVersion: known,
      patch: (resourceVersion) => ({
        metadata: { resourceVersion, annotations: { [selectedNodeAnnotation]: nodeName } },
      }),
      isWritten: (raw) => {
        const now = projectPersistentVolumeClaim(raw);
        if (now.uid !== uid) throw new Error(`persistentvolumeclaim "${key}" was deleted and recreated`);
        const isElsewhere = now.selectedNode !== undefined && now.selectedNode !== nodeName;
        if (isElsewhere) throw new Error(`the volume of "${key}" is being provisioned for node ${now.selectedNode}`);
        return now.selectedNode === nodeName;
      },
      signal,
    });
  }

  async #write(write: {
    readonly path: string;
    readonly resourceVersion: string;
    readonly patch: (resourceVersion: string) => object;
    /** Throws if the object can no longer be written. */
    readonly isWritten: (raw: unknown) => boolean;
    readonly signal: AbortSignal;
  }): Promise<string> {
    const { client } = this.#options;
    const { path, patch, isWritten, signal } = write;
    const call = { lane: 'bind', signal } as const;
    let { resourceVersion } = write;
    for (let conflicts = 0; ; conflicts++) {
      try {
        const body = patch(resourceVersion);
        return versionOf(await this.#repeat(() => client.patch(path, 'merge', body, call), signal));
      } catch (error) {
        if (!(error instanceof ConflictError) || conflicts >= maxConflicts) throw error;
      }
      // An empty patch reads the object without the `get` permission.
      const raw = await this.#repeat(() => client.patch(path, 'merge', {}, call), signal);
      resourceVersion = versionOf(raw);
      if (isWritten(raw)) return resourceVersion;
    }
  }

  #repeat<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random } = this.#options;
    return retry(send, { clock, random, idempotent: true, signal });
  }
}

function versionOf(raw: unknown): string {
  return (raw as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion;
}
