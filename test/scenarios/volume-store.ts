import { systemClock } from '../../src/base/system-clock.ts';
import { bindCompletedAnnotation } from '../../src/api/persistent-volume-claim.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import { simulatedProvisioner, SimulatedVolumes } from '../../src/plane/nodes/simulated-volumes.ts';
import { Recording } from '../expect/recording.ts';
import type { WatchedObject } from '../expect/watched.ts';
import { poll } from '../planes/poll.ts';
import type { Stage } from './stage.ts';

export interface WatchedClaim extends WatchedObject {
  readonly metadata: WatchedObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly volumeName?: string };
  readonly status?: { readonly phase?: string };
}

export interface WatchedVolume extends WatchedObject {
  readonly spec: {
    readonly claimRef?: { readonly namespace: string };
    readonly nodeAffinity?: {
      readonly required: {
        readonly nodeSelectorTerms: readonly { readonly matchExpressions: readonly { readonly values: string[] }[] }[];
      };
    };
  };
}

const zone = 'topology.kubernetes.io/zone';

/**
 * The PersistentVolumeClaims, volumes and classes of a scenario, and the controller that binds and provisions volumes. All are removed with
 * the stage.
 */
export class VolumeStore {
  readonly claims: Recording<WatchedClaim>;
  readonly volumes: Recording<WatchedVolume>;
  readonly #stage: Stage;
  /** Paths of created objects, deleted at the end. */
  readonly #paths: string[] = [];

  private constructor(stage: Stage, claims: Recording<WatchedClaim>, volumes: Recording<WatchedVolume>) {
    this.#stage = stage;
    this.claims = claims;
    this.volumes = volumes;
  }

  static async open(stage: Stage): Promise<VolumeStore> {
    const { client } = stage;
    const nothing = (): void => undefined;
    const claims = await Recording.open<WatchedClaim>(client, '/api/v1/persistentvolumeclaims', nothing);
    const volumes = await Recording.open<WatchedVolume>(client, '/api/v1/persistentvolumes', nothing);
    const store = new VolumeStore(stage, claims, volumes);
    const { transport } = stage.plane;
    const controller = new SimulatedVolumes({
      transport,
      clock: systemClock,
      random: Math.random,
      // Claims of other classes would need another provisioner.
      provisioners: [simulatedProvisioner],
      topologyKey: zone,
      latencyMs: 20,
    });
    stage.atEnd(async () => {
      await controller.stop();
      await Promise.all([claims.close(), volumes.close()]);
      await store.#clear();
    });
    await controller.start();
    return store;
  }

  /** Creates a class whose volumes wait for a pod. `made`: the simulation provisions them; otherwise nothing does. Returns its name. */
  async createClass(name: string, made: 'made' | 'by others' | 'by hand'): Promise<string> {
    const own = `${name}-${this.#stage.namespace}`;
    const others = made === 'by hand' ? 'kubernetes.io/no-provisioner' : 'example.com/none';
    await this.#create('/apis/storage.k8s.io/v1/storageclasses', own, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: own },
      provisioner: made === 'made' ? simulatedProvisioner : others,
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    return own;
  }

  /** Returns the version of the claim in which it was first fully bound; its status follows. Undefined: not seen yet. */
  boundIn(name: string): string | undefined {
    const bound = this.claims.changes.find(({ object: { metadata, spec } }) => {
      return metadata.name === name && spec.volumeName && metadata.annotations?.[bindCompletedAnnotation] !== undefined;
    });
    return bound?.object.metadata.resourceVersion;
  }

  async createClaim(name: string, storageClassName: string): Promise<void> {
    const { namespace } = this.#stage;
    await this.#create(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, name, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
    });
  }

  /** Creates a volume for nodes with this label; `claim`: reserved for the claim of that name. Returns its name. */
  async createVolume(
    name: string,
    storageClassName: string,
    { label, value, claim }: { readonly label: string; readonly value: string; readonly claim?: string },
  ): Promise<string> {
    const { namespace } = this.#stage;
    const own = `${name}-${namespace}`;
    const uid = claim === undefined ? undefined : this.claim(claim)?.metadata.uid;
    await this.#create('/api/v1/persistentvolumes', own, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: own },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '2Gi' },
        storageClassName,
        hostPath: { path: `/tmp/${own}` },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: label, operator: 'In', values: [value] }] }],
          },
        },
        ...(claim !== undefined && {
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claim, uid },
        }),
      },
    });
    return own;
  }

  claim(name: string): WatchedClaim | undefined {
    return this.claims.current.get(`${this.#stage.namespace}/${name}`);
  }

  /** Returns the zone of the volume of a claim; undefined: it has none yet. */
  zoneOf(claim: string): string | undefined {
    const volume = [...this.volumes.current.values()].find(
      ({ metadata }) => metadata.name === this.claim(claim)?.spec.volumeName,
    );
    return volume?.spec.nodeAffinity?.required.nodeSelectorTerms[0]?.matchExpressions[0]?.values[0];
  }

  /** Resolves when the watch shows all of these claims as bound. */
  async untilBound(...names: readonly string[]): Promise<void> {
    const unbound = (): string[] => names.filter((name) => this.claim(name)?.status?.phase !== 'Bound');
    await poll(
      () => Promise.resolve(unbound().length === 0 ? undefined : `${unbound().join()} are not`),
      'the claims are bound',
    );
  }

  async #create(collection: string, name: string, object: object): Promise<void> {
    await this.#stage.client.create(collection, object);
    this.#paths.push(`${collection}/${name}`);
  }

  /** Servers protect objects in use until controllers, which no plane runs, have checked them. */
  async #clear(): Promise<void> {
    const { client, namespace } = this.#stage;
    const made = [...this.volumes.current.values()]
      .filter(({ spec }) => spec.claimRef?.namespace === namespace)
      .map(({ metadata }) => `/api/v1/persistentvolumes/${metadata.name}`);
    for (const path of new Set([...this.#paths.toReversed(), ...made])) {
      try {
        await client.delete(path);
        await client.patch(path, 'merge', { metadata: { finalizers: null } });
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
  }
}
