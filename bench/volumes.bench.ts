/**
 * Measures attempts for gangs of 100 members with one PersistentVolumeClaim each, like the pods of a StatefulSet, in process, on 5,000 nodes
 * in three zones with 20,000 pods and all default plugins. One attempt is one synchronous call of the SchedulerCore.
 * `node --expose-gc bench/volumes.bench.ts [part of a title]`
 */
import process from 'node:process';
import { projectListed } from '../src/api/listed-object.ts';
import type { ListedKind } from '../src/api/listed-object.ts';
import { CrowdedCore } from './crowded-core.ts';

const size = 100;
const times = 15;
const zone = 'topology.kubernetes.io/zone';
const driver = 'csi.example.com';

interface Load {
  /** The volume for a claim. */
  readonly volume?: (index: number, claim: string) => object;
  /** Fields of the claim's spec. */
  readonly claim?: (index: number) => object;
  readonly hasClaims: boolean;
  /** Whether available local volumes exist. */
  readonly local?: boolean;
}

const zonal = (index: number): object => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'In', values: [`zone-${index % 3}`] }] }],
  },
});
const ofNode = (index: number): object => ({
  required: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [`node-${index}`] }] },
    ],
  },
});

const loads: Readonly<Record<string, Load>> = {
  'no volumes': { hasClaims: false },
  'dynamic provisioning, one size and class': { hasClaims: true },
  'dynamic provisioning, different sizes': {
    hasClaims: true,
    claim: (index) => ({ resources: { requests: { storage: `${index + 1}Gi` } } }),
  },
  'bound volumes in three zones': {
    hasClaims: true,
    claim: (index) => ({ volumeName: `pv-${index}` }),
    volume: (index, claim) => ({
      kind: 'PersistentVolume',
      metadata: { name: `pv-${index}`, uid: `pv-${index}`, labels: { [zone]: `zone-${index % 3}` } },
      spec: {
        storageClassName: 'wait',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        nodeAffinity: zonal(index),
        csi: { driver, volumeHandle: `pv-${index}` },
        claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: claim, uid: claim },
      },
      status: { phase: 'Bound' },
    }),
  },
  'local volumes, one on each node': {
    hasClaims: true,
    claim: () => ({ storageClassName: 'local' }),
    local: true,
  },
};

let version = 1;
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const shown = (ms: number): string => ms.toFixed(1).padStart(9);

const filter = process.argv.slice(2).join(' ');
console.log(`gang of ${size}, one claim per member`.padEnd(56), '     mean   median   (ms)');
for (const [title, load] of Object.entries(loads)) {
  if (!title.includes(filter)) continue;
  const crowd = new CrowdedCore();
  const { handlers } = crowd.core;
  const show = (kind: ListedKind, object: object): (() => void) => {
    const { metadata, ...rest } = object as { readonly metadata: object };
    const listed = projectListed(kind, { ...rest, metadata: { ...metadata, resourceVersion: String(version++) } });
    handlers.listed.onAdd(listed);
    return () => handlers.listed.onDelete(listed, false);
  };
  const delayed = { volumeBindingMode: 'WaitForFirstConsumer' };
  show('StorageClass', { metadata: { name: 'wait' }, provisioner: driver, ...delayed });
  show('StorageClass', { metadata: { name: 'local' }, provisioner: 'kubernetes.io/no-provisioner', ...delayed });
  for (let i = 0; i < crowd.core.cluster.nodes.length; i++) {
    const drivers = [{ name: driver, nodeID: `node-${i}`, allocatable: { count: 25 } }];
    show('CSINode', { metadata: { name: `node-${i}` }, spec: { drivers } });
    if (load.local !== true) continue;
    const spec = { storageClassName: 'local', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } };
    const local = { local: { path: '/disk' }, nodeAffinity: ofNode(i) };
    show('PersistentVolume', {
      metadata: { name: `local-${i}` },
      spec: { ...spec, ...local },
      status: { phase: 'Available' },
    });
  }
  crowd.core.begin();
  const durations: number[] = [];
  for (let round = 0; round < times + 3; round++) {
    const hide: (() => void)[] = [];
    const claimOf = (index: number): string => `data-${round}-${index}`;
    for (let index = 0; index < (load.hasClaims ? size : 0); index++) {
      const name = claimOf(index);
      const own = load.claim?.(index) ?? {};
      const spec = {
        storageClassName: 'wait',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      };
      const isBound = 'volumeName' in own;
      const annotations = isBound ? { 'pv.kubernetes.io/bind-completed': 'yes' } : {};
      if (load.volume !== undefined) hide.push(show('PersistentVolume', load.volume(index, name)));
      hide.push(
        show('PersistentVolumeClaim', {
          metadata: { namespace: 'default', name, uid: name, annotations },
          spec: { ...spec, ...own },
          status: { phase: isBound ? 'Bound' : 'Pending' },
        }),
      );
    }
    const remove = crowd.gangOf(size, (index) => ({
      cpu: '500m',
      memory: '1Gi',
      ...(load.hasClaims && {
        spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claimOf(index) } }] },
      }),
    }));
    globalThis.gc?.();
    const begun = performance.now();
    const result = crowd.core.attempt();
    const ms = performance.now() - begun;
    if (result?.kind !== 'planned') throw new Error(`${title}: the attempt ended ${result?.kind}`);
    // The first rounds are a warm-up.
    if (round >= 3) durations.push(ms);
    remove();
    while (crowd.core.attempt() !== undefined);
    for (const one of hide) one();
    await new Promise(setImmediate);
  }
  console.log(title.padEnd(56), shown(mean(durations)), shown(median(durations)));
}
process.exit(0);
