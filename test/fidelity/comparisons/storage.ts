import * as fc from 'fast-check';
import { fields, maybe, nodeNames } from '../arbitraries.ts';
import type { NodeParts, PodParts } from '../arbitraries.ts';
import type { ApiObject } from '../question.ts';

/** Shared by the plugins that look at volumes. */

const claimNames = ['a', 'b', 'c', 'd', 'waiting-e', 'placed-0-e'] as const;
const volumeNames = ['pv0', 'pv1', 'pv2', 'pv3', 'pv4', 'pv5', 'pv6'] as const;
const drivers = ['ebs.csi.aws.com', 'csi.one', 'csi.two'] as const;
const zones = ['eu-west-a', 'eu-west-b', 'eu-east-a'] as const;
const oldZone = 'failure-domain.beta.kubernetes.io/zone';
const oldRegion = 'failure-domain.beta.kubernetes.io/region';
const zoneKey = 'topology.kubernetes.io/zone';
const regionKey = 'topology.kubernetes.io/region';
const zone = fc.constantFrom(...zones);

export const storageNode: fc.Arbitrary<NodeParts> = fields({
  'kubernetes.io/hostname': maybe(fc.constantFrom('h0', 'h1', 'h2'), 9),
  [zoneKey]: maybe(zone, 7),
  [regionKey]: maybe(fc.constantFrom('eu-west', 'eu-east'), 5),
  [oldZone]: maybe(zone, 3),
  [oldRegion]: maybe(fc.constantFrom('eu-west', 'eu-east'), 2),
  'topology.ebs.csi.aws.com/zone': maybe(zone, 3),
  disk: maybe(fc.constantFrom('ssd', 'hdd')),
  cores: maybe(fc.constantFrom('2', '8')),
}).map((labels) => ({ labels: labels as Record<string, string> }));

/** Includes labels with several zones, and invalid ones. */
const zoneLabel = fc.oneof(
  { weight: 5, arbitrary: zone },
  {
    weight: 3,
    arbitrary: fc.constantFrom('eu-west-a__eu-west-b', 'eu-west-a__eu-east-a', 'eu-west-a__', '', 'odd__eu-west-a'),
  },
);

const expression = fc.oneof(
  fields({
    key: fc.constantFrom(zoneKey, oldZone, 'kubernetes.io/hostname', 'disk'),
    operator: fc.constantFrom('In', 'In', 'In', 'NotIn'),
    values: fc.uniqueArray(fc.constantFrom(...zones, 'h0', 'h1', 'ssd'), { minLength: 1, maxLength: 3 }),
  }),
  fields({ key: fc.constantFrom(zoneKey, oldRegion, 'disk'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  fields({
    key: fc.constantFrom('cores', 'disk'),
    operator: fc.constantFrom('Gt', 'Lt'),
    values: fc.constantFrom(['4'], ['many'], ['4', '8']),
  }),
);
const nodeAffinity = fc
  .array(
    fields({
      matchExpressions: maybe(fc.array(expression, { minLength: 1, maxLength: 2 }), 9),
      matchFields: maybe(
        fields({
          key: fc.constant('metadata.name'),
          operator: fc.constantFrom('In', 'NotIn'),
          values: fc.constantFrom(['n0'], ['n1']),
        }).map((field) => [field]),
        1,
      ),
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((nodeSelectorTerms) => ({ required: { nodeSelectorTerms } }));

const hostAffinity = fc.constantFrom('h0', 'h1', 'h2').map((host) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }] }],
  },
}));

/** In-tree volume sources of pods and PersistentVolumes. */
const inTree: fc.Arbitrary<ApiObject> = fc.oneof(
  fc
    .constantFrom('vol-1', 'vol-2', 'aws://eu-west-a/vol-1', 'aws:///vol-3', 'aws://eu-west-a/odd')
    .map((volumeID) => ({ awsElasticBlockStore: { volumeID } })),
  fields({ pdName: fc.constantFrom('g1', 'g2'), readOnly: maybe(fc.boolean()) }).map((gcePersistentDisk) => ({
    gcePersistentDisk,
  })),
  fc.constantFrom('c1', 'c2').map((volumeID) => ({ cinder: { volumeID } })),
  fields({
    diskName: fc.constant('d'),
    diskURI: fc.constantFrom('u1', 'u2'),
    kind: maybe(fc.constantFrom('Managed', 'Shared'), 7),
  }).map((azureDisk) => ({ azureDisk })),
  fc.constantFrom('p1', 'p2').map((volumeID) => ({ portworxVolume: { volumeID } })),
  fc.constant({ azureFile: { secretName: 's', shareName: 'x' } }),
  fc.constant({ vsphereVolume: { volumePath: 'v' } }),
);

/** Sources that only one pod at a time may write to. */
const disk: fc.Arbitrary<ApiObject> = fc.oneof(
  inTree,
  fields({
    targetPortal: fc.constant('1.2.3.4'),
    iqn: fc.constantFrom('iqn.1', 'iqn.2'),
    lun: fc.constant(0),
    readOnly: maybe(fc.boolean()),
  }).map((iscsi) => ({ iscsi })),
  fields({
    monitors: fc.constantFrom(['m1'], ['m2'], ['m1', 'm2']),
    pool: fc.constantFrom('rbd', 'other'),
    image: fc.constantFrom('i1', 'i2'),
    readOnly: maybe(fc.boolean()),
  }).map((rbd) => ({ rbd })),
);

/** `often` of ten volumes are claims; each claim occurs at most once in a pod. */
function volumesOf({ often, ephemeral }: { often: number; ephemeral: number }): fc.Arbitrary<readonly ApiObject[]> {
  return fc
    .array(
      fc.oneof(
        {
          weight: often,
          arbitrary: fc
            .constantFrom('a', 'b', 'c', 'd')
            .map((claimName): ApiObject => ({ persistentVolumeClaim: { claimName } })),
        },
        { weight: ephemeral, arbitrary: fc.constant<ApiObject>({ ephemeral: { volumeClaimTemplate: {} } }) },
        { weight: 10 - often, arbitrary: disk },
        { weight: 1, arbitrary: fc.constantFrom<ApiObject>({ emptyDir: {} }, { csi: { driver: 'csi.one' } }) },
      ),
      { maxLength: 4 },
    )
    .map((sources) => {
      const unique = [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
      return unique.map((source, index) => ({ name: 'ephemeral' in source ? 'e' : `v${index}`, ...source }));
    });
}

export function podWithVolumes(parts: { often: number; ephemeral: number }): fc.Arbitrary<PodParts> {
  return fc
    .record({
      namespace: fc.constantFrom('default', 'default', 'default', 'default', 'other'),
      volumes: volumesOf(parts),
    })
    .map(({ namespace, volumes }) => ({ namespace, spec: { volumes } }));
}

const className = fc.constantFrom('wait', 'wait', 'wait', 'now', 'manual', 'topology', 'in-tree', 'missing', '');
const plainClass = fc.constantFrom('wait', 'wait', 'manual', 'topology');
const size = fc.constantFrom('1Gi', '2Gi', '5Gi', '7Gi', '500M', '1.5Gi', '0', '1500m');
const accessModes = fc.uniqueArray(fc.constantFrom('ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'), {
  minLength: 1,
  maxLength: 2,
});

/** How a comparison generates claims. `bound` of ten have a volume. */
export interface ClaimStyle {
  readonly bound: number;
  /** Whether some annotations name classes. */
  readonly hasOldClasses: boolean;
  /** Claims and volumes match each other, except for size and location. */
  readonly isPlain?: boolean;
}

function claim({ bound, hasOldClasses, isPlain = false }: ClaimStyle): fc.Arbitrary<ApiObject> {
  return fc
    .record({
      name: isPlain ? fc.constantFrom('a', 'b', 'c', 'd') : fc.constantFrom(...claimNames),
      namespace: isPlain
        ? fc.constant('default')
        : fc.constantFrom('default', 'default', 'default', 'default', 'other'),
      owner: fc.constantFrom('uid-of-waiting', 'uid-of-waiting', 'uid-of-placed-0', 'another'),
      spec: fields({
        storageClassName: isPlain ? plainClass : maybe(className, 9),
        volumeName: maybe(fc.constantFrom(...volumeNames, 'gone'), bound),
        accessModes: isPlain ? fc.constant(['ReadWriteOnce']) : accessModes,
        resources: maybe(size, 9).map((storage) => (storage === undefined ? {} : { requests: { storage } })),
        selector: maybe(
          fc.constantFrom<ApiObject>(
            { matchLabels: { tier: 'x' } },
            {},
            { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['x'] }] },
          ),
          isPlain ? 0 : 1,
        ),
        volumeMode: maybe(fc.constantFrom('Filesystem', 'Block'), isPlain ? 0 : 2),
        volumeAttributesClassName: maybe(fc.constantFrom('fast', 'slow'), isPlain ? 0 : 1),
      }),
      annotations: fields({
        'pv.kubernetes.io/bind-completed': maybe(fc.constant('yes'), 9),
        'volume.kubernetes.io/selected-node': maybe(fc.constantFrom('n0', 'n1', 'unseen'), isPlain ? 0 : 1),
        'volume.beta.kubernetes.io/storage-class': maybe(className, hasOldClasses ? 1 : 0),
      }),
      isLost: fc.integer({ min: isPlain ? 1 : 0, max: 29 }),
      isDeleted: fc.integer({ min: isPlain ? 1 : 0, max: 29 }),
    })
    .map(({ name, namespace, owner, spec, annotations, isLost, isDeleted }) => {
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner, controller: true }];
      return {
        ...objectOf('v1', 'PersistentVolumeClaim', name, {
          namespace,
          uid: `uid-of-claim-${namespace}-${name}`,
          annotations,
          ownerReferences,
          ...(isDeleted === 0 && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
        }),
        spec,
        status: { phase: isLost === 0 ? 'Lost' : 'Pending' },
      };
    });
}

/** Each is larger than the one before, so that no choice between equal volumes is needed. */
function volume({ hasOldClasses, isPlain = false }: ClaimStyle): fc.Arbitrary<ApiObject> {
  return fc
    .record({
      place: fc.nat({ max: volumeNames.length - 1 }),
      labels: fields({
        [zoneKey]: maybe(zoneLabel, 4),
        [regionKey]: maybe(fc.constantFrom('eu-west', 'eu-east'), 3),
        [oldZone]: maybe(zoneLabel, 2),
        [oldRegion]: maybe(fc.constantFrom('eu-west', 'eu-east'), 1),
        tier: maybe(fc.constantFrom('x', 'y'), 3),
      }),
      annotations: fields({
        'volume.beta.kubernetes.io/storage-class': maybe(className, hasOldClasses ? 1 : 0),
      }),
      spec: fields({
        storageClassName: isPlain ? plainClass : maybe(className, 9),
        accessModes: isPlain ? fc.constant(['ReadWriteOnce', 'ReadWriteMany']) : accessModes,
        nodeAffinity: maybe(isPlain ? hostAffinity : nodeAffinity, 5),
        claimRef: isPlain
          ? maybe(
              fields({
                kind: fc.constant('PersistentVolumeClaim'),
                namespace: fc.constant('default'),
                name: fc.constantFrom('a', 'b', 'c', 'd'),
              }),
              3,
            )
          : maybe(
              fields({
                kind: fc.constant('PersistentVolumeClaim'),
                namespace: fc.constantFrom('default', 'default', 'other'),
                name: fc.constantFrom(...claimNames),
                uid: maybe(fc.constantFrom('uid-of-claim-default-a', 'uid-of-claim-default-b', 'another'), 4),
              }),
              2,
            ),
        volumeMode: maybe(fc.constantFrom('Filesystem', 'Block'), isPlain ? 0 : 2),
        volumeAttributesClassName: maybe(fc.constantFrom('fast', 'slow'), isPlain ? 0 : 1),
      }),
      source: fc.oneof(
        {
          weight: 6,
          arbitrary: fields({ driver: fc.constantFrom(...drivers), volumeHandle: fc.constantFrom('1', '2', '3') }).map(
            (csi): ApiObject => ({ csi }),
          ),
        },
        { weight: 3, arbitrary: inTree },
        { weight: 1, arbitrary: fc.constant<ApiObject>({ hostPath: { path: '/x' } }) },
      ),
      phase: fc.constantFrom('Available', 'Available', 'Available', 'Bound', 'Released'),
      isDeleted: fc.integer({ min: 0, max: 29 }),
      // Which of several volumes without a size is chosen is random.
      hasSize: fc.integer({ min: 0, max: 49 }).map((dice) => dice > 0),
    })
    .map(({ place, labels, annotations, spec, source, phase, isDeleted, hasSize }) => {
      // An Azure secret needs a namespace.
      const own =
        'azureFile' in source ? { azureFile: { ...(source.azureFile as object), secretNamespace: 'x' } } : source;
      return {
        ...objectOf('v1', 'PersistentVolume', volumeNames[place]!, {
          labels,
          annotations,
          ...(isDeleted === 0 && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
        }),
        spec: { ...(hasSize && { capacity: { storage: `${place + 1}Gi` } }), ...spec, ...own },
        status: { phase },
      };
    });
}

const delayed = { volumeBindingMode: 'WaitForFirstConsumer' };
const classes: readonly ApiObject[] = [
  { ...objectOf('storage.k8s.io/v1', 'StorageClass', 'wait'), provisioner: 'csi.one', ...delayed },
  { ...objectOf('storage.k8s.io/v1', 'StorageClass', 'now'), provisioner: 'csi.two', volumeBindingMode: 'Immediate' },
  {
    ...objectOf('storage.k8s.io/v1', 'StorageClass', 'manual'),
    provisioner: 'kubernetes.io/no-provisioner',
    ...delayed,
  },
  {
    ...objectOf('storage.k8s.io/v1', 'StorageClass', 'topology'),
    provisioner: 'csi.two',
    ...delayed,
    allowedTopologies: [
      { matchLabelExpressions: [{ key: zoneKey, values: ['eu-west-a', 'eu-west-b'] }] },
      {
        matchLabelExpressions: [
          { key: regionKey, values: ['eu-east'] },
          { key: 'disk', values: ['ssd'] },
        ],
      },
      {},
    ],
  },
  { ...objectOf('storage.k8s.io/v1', 'StorageClass', 'in-tree'), provisioner: 'kubernetes.io/aws-ebs', ...delayed },
];

const csiNode = fc
  .record({
    name: fc.constantFrom(...nodeNames),
    plugins: maybe(
      fc.uniqueArray(
        fc.constantFrom(
          'kubernetes.io/aws-ebs',
          'kubernetes.io/gce-pd',
          'kubernetes.io/cinder',
          'kubernetes.io/azure-disk',
          'kubernetes.io/portworx-volume',
          'kubernetes.io/azure-file',
        ),
        { maxLength: 6 },
      ),
      7,
    ),
    drivers: fc.uniqueArray(
      fields({
        name: fc.constantFrom(...drivers, 'pd.csi.storage.gke.io', 'disk.csi.azure.com'),
        nodeID: fc.constant('x'),
        allocatable: maybe(
          maybe(fc.integer({ min: 0, max: 4 }), 9).map((count) => (count === undefined ? {} : { count })),
          8,
        ),
      }),
      { maxLength: 4, selector: ({ name }) => name },
    ),
  })
  .map(({ name, plugins, drivers: its }) => ({
    ...objectOf('storage.k8s.io/v1', 'CSINode', name, {
      ...(plugins && { annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': plugins.join(',') } }),
    }),
    spec: { drivers: its },
  }));

/** At most one driver is required: which one of several is reported is random. */
const csiDrivers = fc
  .record({
    insisting: maybe(fc.constantFrom(...drivers), 3),
    capacities: fc.array(fc.constantFrom(undefined, true, true, false), { minLength: 3, maxLength: 3 }),
    present: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
  })
  .map(({ insisting, capacities, present }) =>
    drivers.flatMap((driver, index) =>
      present[index] === 0
        ? []
        : [
            {
              ...objectOf('storage.k8s.io/v1', 'CSIDriver', driver),
              spec: {
                ...(capacities[index] !== undefined && { storageCapacity: capacities[index] }),
                ...(insisting === driver && { preventPodSchedulingIfMissing: true }),
              },
            },
          ],
    ),
  );

/** At most one for a class and a node: which one of several counts is random. */
const capacities = fc
  .uniqueArray(
    fc.record({
      storageClassName: fc.constantFrom('wait', 'topology', 'in-tree'),
      host: fc.constantFrom('h0', 'h1', 'h2', undefined),
      isByExpression: fc.boolean(),
      // With a maximum volume size but no capacity, kube-scheduler panics when it scores.
      sizes: fc.oneof(
        {
          weight: 9,
          arbitrary: fields({
            capacity: fc.constantFrom('3Gi', '6Gi', '100Gi'),
            maximumVolumeSize: maybe(fc.constantFrom('2Gi', '50Gi'), 2),
          }),
        },
        { weight: 1, arbitrary: fc.constant<ApiObject>({}) },
      ),
    }),
    { maxLength: 8, selector: ({ storageClassName, host }) => `${storageClassName} ${host}` },
  )
  .map((all) =>
    all.map(({ storageClassName, host, isByExpression, sizes }, index) => ({
      ...objectOf('storage.k8s.io/v1', 'CSIStorageCapacity', `capacity-${index}`, { namespace: 'default' }),
      storageClassName,
      ...(host !== undefined && {
        nodeTopology: isByExpression
          ? { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }] }
          : { matchLabels: { 'kubernetes.io/hostname': host } },
      }),
      ...sizes,
    })),
  );

const attachment = fc
  .record({
    nodeName: fc.constantFrom('n0', 'n1', 'n2'),
    attacher: fc.constantFrom(...drivers, ''),
    persistentVolumeName: maybe(fc.constantFrom(...volumeNames), 9),
    serial: fc.nat({ max: 9 }),
  })
  .map(({ nodeName, attacher, persistentVolumeName, serial }) => ({
    ...objectOf('storage.k8s.io/v1', 'VolumeAttachment', `attachment-${serial}`),
    spec: {
      attacher,
      nodeName,
      source:
        persistentVolumeName === undefined
          ? { inlineVolumeSpec: { csi: { driver: 'csi.one', volumeHandle: '1' } } }
          : { persistentVolumeName },
    },
  }));

/** Claims, volumes, classes and CSI objects, at most one per kind and name. */
export function storageObjects(style: ClaimStyle): fc.Arbitrary<readonly ApiObject[]> {
  return fc
    .record({
      claims: fc.array(claim(style), { minLength: style.isPlain === true ? 9 : 3, maxLength: 10 }),
      volumes: fc.array(volume(style), { maxLength: 12 }),
      csiNodes: fc.array(csiNode, { maxLength: 6 }),
      drivers: csiDrivers,
      capacities,
      attachments: fc.array(attachment, { maxLength: 4 }),
    })
    .map(({ claims, volumes, csiNodes, drivers: its, capacities: capacities, attachments }) => {
      const all = [...claims, ...volumes, ...classes, ...csiNodes, ...its, ...capacities, ...attachments];
      return withOneVolumeEach([...new Map(all.map((object) => [keyOf(object), object])).values()]);
    });
}

/** Keeps one volume with a claimRef for each claim: which one of several a claim gets is random. */
function withOneVolumeEach(objects: readonly ApiObject[]): readonly ApiObject[] {
  const kept = new Set<string>();
  return objects.map((object) => {
    const { claimRef, ...spec } = (object.spec ?? {}) as { readonly claimRef?: ApiObject };
    if (claimRef === undefined) return object;
    const claim = JSON.stringify([claimRef.namespace, claimRef.name]);
    if (kept.has(claim)) return { ...object, spec };
    kept.add(claim);
    return object;
  });
}

function objectOf(apiVersion: string, kind: string, name: string, metadata: ApiObject = {}): ApiObject {
  return { apiVersion, kind, metadata: { name, resourceVersion: '1', ...metadata } };
}

function keyOf({ kind, metadata }: ApiObject): string {
  const { namespace, name } = metadata as { readonly namespace?: string; readonly name: string };
  return JSON.stringify([kind, namespace, name]);
}
