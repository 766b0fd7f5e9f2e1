import type { CaseGroup } from '../conformance-case.ts';

const claims = 'persistentvolumeclaims';
const volumes = '/api/v1/persistentvolumes';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const csiNodes = '/apis/storage.k8s.io/v1/csinodes';
const drivers = '/apis/storage.k8s.io/v1/csidrivers';

const claim = (spec: object = {}): object => ({
  metadata: { name: 'data' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'none',
    resources: { requests: { storage: '0.5Gi' } },
    ...spec,
  },
});
const volume = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1024Mi' }, hostPath: { path: '/tmp/x' }, ...spec },
});

/** Servers protect objects in use with finalizers, which no component of the embedded plane would remove. */
const withoutFinalizers = {
  view: ({ metadata, ...rest }: any): unknown => {
    const { finalizers: _, ...others } = metadata ?? {};
    return { metadata: others, ...rest };
  },
};
/** The message of the rejection contains a diff. */
const reasonAlone = { view: ({ status, reason, code }: any): unknown => ({ status, reason, code }) };

/** PersistentVolumeClaims, volumes, classes and CSI objects. */
export const storage: CaseGroup = {
  'a claim gets its defaults and is pending': async (api) => {
    await api.create(claims, claim(), withoutFinalizers);
    await api.create(claims, { metadata: { name: 'empty' }, spec: {} });
    await api.create(claims, { ...claim({ accessModes: [] }), metadata: { name: 'modeless' } });
  },
  'a claim accepts a volume and a selected node, but no other change': async (api) => {
    await api.givenCreated(claims, claim());
    const annotations = { 'volume.kubernetes.io/selected-node': 'n' };
    await api.merge(`${claims}/data`, { metadata: { annotations } }, withoutFinalizers);
    await api.merge(`${claims}/data`, { spec: { volumeMode: 'Block' } }, reasonAlone);
    await api.merge(`${claims}/data`, { spec: { volumeName: 'v' } }, withoutFinalizers);
    await api.merge(`${claims}/data`, { spec: { volumeName: 'w' } }, reasonAlone);
    const status = { phase: 'Bound', capacity: { storage: '1024Mi' } };
    await api.merge(`${claims}/data/status`, { status }, { view: (answer: any) => answer.status });
  },
  'a volume keeps its claimRef': async (api) => {
    const { namespace: name } = api;
    await api.create(volumes, volume(name), withoutFinalizers);
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: name, name: 'data', uid: 'u' };
    const metadata = { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } };
    await api.merge(`${volumes}/${name}`, { metadata, spec: { claimRef } }, withoutFinalizers);
    await api.merge(
      `${volumes}/${name}/status`,
      { status: { phase: 'Bound' } },
      { view: ({ status }: any) => status.phase },
    );
    await api.create(volumes, volume(`${name}-x`, { capacity: {} }), reasonAlone);
    await api.create(volumes, volume(`${name}-x`, { accessModes: [] }), reasonAlone);
    await api.given('PATCH', `${volumes}/${name}`, {
      body: { metadata: { finalizers: null } },
      contentType: 'application/merge-patch+json',
    });
    await api.given('DELETE', `${volumes}/${name}`);
  },
  'a class has a volume binding mode': async (api) => {
    const { namespace: name } = api;
    await api.create(classes, { metadata: { name }, provisioner: 'example.com/p' });
    await api.merge(`${classes}/${name}`, { volumeBindingMode: 'WaitForFirstConsumer' }, reasonAlone);
    await api.create(classes, { metadata: { name: `${name}-x` } }, reasonAlone);
    await api.create(
      classes,
      { metadata: { name: `${name}-x` }, provisioner: 'p', volumeBindingMode: 'Later' },
      reasonAlone,
    );
    await api.delete(`${classes}/${name}`, undefined, { view: ({ kind }: any) => kind });
  },
  'CSINodes and CSIDrivers are stored': async (api) => {
    const { namespace: name } = api;
    const driver = { name: 'd.example', nodeID: 'n', topologyKeys: ['zone'], allocatable: { count: 3 } };
    await api.create(csiNodes, { metadata: { name }, spec: { drivers: [driver] } }, { view: ({ spec }: any) => spec });
    await api.delete(`${csiNodes}/${name}`, undefined, { view: ({ kind }: any) => kind });
    await api.create(drivers, { metadata: { name }, spec: {} });
    await api.delete(`${drivers}/${name}`, undefined, { view: ({ kind }: any) => kind });
  },
};
