import { projectListed } from '../../api/listed-object.ts';
import type { ListedKind, ListedObject } from '../../api/listed-object.ts';
import type { VolumeWriter } from '../../framework/plugin-handle.ts';
import type { CoreHarnessOptions } from '../../testkit/core-harness.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { defaultPlugins } from '../registry.ts';

interface ClaimOptions {
  readonly storageClass?: string;
  readonly size?: string;
  readonly modes?: readonly string[];
  /** Volume to which the claim is bound. */
  readonly volume?: string;
  readonly selectedNode?: string;
}

interface VolumeOptions {
  readonly storageClass?: string;
  readonly size?: string;
  /** Host name of the only node that can access the volume. */
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Claim for which the volume is reserved, or to which it is bound. */
  readonly claim?: string;
  readonly csi?: { readonly driver: string; readonly volumeHandle: string };
}

interface RawObject {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** A scheduler with all default plugins. The test defines volumes, claims and classes. */
export class StorageScheduling extends Scheduling {
  /** Writes: `volume for claim`, or `claim on node` for a volume to provision. */
  readonly written: string[];
  readonly #versions: { latest: number };
  /** kind and name -> latest version of the object */
  readonly #objects = new Map<string, ListedObject>();

  /** `rejects` returns why the API server rejects a write; undefined: it accepts. Default: it accepts all. */
  constructor({
    rejects = () => undefined,
    plugins = defaultPlugins,
  }: {
    readonly rejects?: (text: string) => string | undefined;
    readonly plugins?: CoreHarnessOptions['plugins'];
  } = {}) {
    const written: string[] = [];
    const versions = { latest: 0 };
    const write = (text: string): Promise<string> => {
      const rejection = rejects(text);
      if (rejection !== undefined) return Promise.reject(new Error(rejection));
      written.push(text);
      return Promise.resolve(String(++versions.latest));
    };
    const volumes: VolumeWriter = {
      bind: ({ name }, claim) => write(`${name} for ${claim.name}`),
      provision: ({ name }, nodeName) => write(`${name} on ${nodeName}`),
    };
    super({ plugins, ports: { volumes } });
    this.written = written;
    this.#versions = versions;
    this.class('wait');
    this.class('manual', { provisioner: 'kubernetes.io/no-provisioner' });
  }

  class(name: string, fields: object = {}): void {
    this.object('StorageClass', {
      metadata: { name },
      provisioner: 'csi.example',
      volumeBindingMode: 'WaitForFirstConsumer',
      ...fields,
    });
  }

  claim(name: string, options: ClaimOptions = {}): void {
    const { storageClass = 'wait', size = '1Gi', modes = ['ReadWriteOnce'], volume, selectedNode } = options;
    const annotations = {
      ...(volume !== undefined && { 'pv.kubernetes.io/bind-completed': 'yes' }),
      ...(selectedNode !== undefined && { 'volume.kubernetes.io/selected-node': selectedNode }),
    };
    this.object('PersistentVolumeClaim', {
      metadata: { namespace: 'default', name, uid: `uid-of-${name}`, annotations },
      spec: {
        storageClassName: storageClass,
        accessModes: modes,
        resources: { requests: { storage: size } },
        ...(volume !== undefined && { volumeName: volume }),
      },
    });
  }

  volume(name: string, options: VolumeOptions = {}): void {
    const { storageClass = 'manual', size = '2Gi', node, labels, claim, csi } = options;
    const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } };
    this.object('PersistentVolume', {
      metadata: { name, ...(labels !== undefined && { labels }) },
      spec: {
        capacity: { storage: size },
        accessModes: ['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'],
        storageClassName: storageClass,
        ...(node !== undefined && { nodeAffinity }),
        ...(claim !== undefined && { claimRef: { namespace: 'default', name: claim, uid: `uid-of-${claim}` } }),
        ...(csi !== undefined && { csi }),
      },
      status: { phase: claim === undefined ? 'Available' : 'Bound' },
    });
  }

  /** Binds volume and claim to each other, like the PersistentVolume controller. */
  bind(claim: string, volume: string, options: VolumeOptions & ClaimOptions = {}): void {
    this.volume(volume, { ...options, claim });
    this.claim(claim, { ...options, volume });
  }

  /** Adds or updates the object, in a new version. */
  object(kind: ListedKind, raw: RawObject): void {
    const metadata = { ...raw.metadata, resourceVersion: String(++this.#versions.latest) };
    const object = projectListed(kind, { ...raw, metadata });
    const { listed } = this.harness.core.handlers;
    const key = `${kind} ${object.name}`;
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    if (old === undefined) listed.onAdd(object);
    else listed.onUpdate(old, object);
  }

  removeObject(kind: ListedKind, name: string): void {
    const key = `${kind} ${name}`;
    const object = this.#objects.get(key)!;
    this.#objects.delete(key);
    this.harness.core.handlers.listed.onDelete(object, false);
  }

  /** Adds nodes with these host names. */
  hosts(...names: readonly string[]): void {
    for (const name of names) this.node({ name, cpu: '8', labels: { 'kubernetes.io/hostname': name } });
  }

  /** Adds a gang; member i has the claims in `claims[i]`. */
  gang(name: string, claims: readonly (readonly string[])[], cpu = '1'): void {
    this.group({ name, minMember: claims.length });
    for (const [index, memberClaims] of claims.entries()) {
      this.pod({ name: `${name}-${index}`, group: name, cpu, spec: { volumes: volumesOf(memberClaims) } });
    }
  }

  singlePod(name: string, claims: readonly string[], cpu = '1'): void {
    this.pod({ name, cpu, spec: { volumes: volumesOf(claims) } });
  }

  /** `name@node` of the pods that are being bound. */
  get binding(): readonly string[] {
    return this.binds.map(({ binding: { name, nodeName } }) => `${name}@${nodeName}`).sort();
  }

  /** Returns the message of the latest verdict on the pod. */
  verdictOf(name: string): string {
    return this.harness.written.filter((each) => each.name === name).at(-1)?.verdict.message ?? '';
  }

  async advance(ms: number): Promise<void> {
    this.harness.clock.advance(ms);
    await this.settle();
  }
}

function volumesOf(
  claims: readonly string[],
): { readonly name: string; readonly persistentVolumeClaim: { readonly claimName: string } }[] {
  return claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
}
