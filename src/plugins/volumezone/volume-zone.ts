import type { Labels } from '../../api/label-selector.ts';
import type { ListedKind, ListedObject } from '../../api/listed-object.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import { noVolumes } from '../../api/pod-volume.ts';
import type { Pod } from '../../api/pod.ts';
import { sameLabels } from '../../api/same-labels.ts';
import { waitsForConsumer } from '../../api/storage-class.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';
import { InterchangeableClaims } from '../interchangeable-claims.ts';
import { claimVolumesOf, usesClaim, usesVolume } from '../pod-claims.ts';
import { claimNotFound, classNotFound, volumeNotFound, withoutBindingMode } from '../storage-reasons.ts';

const name = 'VolumeZone';
const zonesKey = `${name}/zones`;
const wrongZone = new Status(
  'UnschedulableAndUnresolvable',
  { text: 'node(s) had no available volume zone', code: 'VolumeUnavailable' },
  name,
);

/** label of a volume -> its current name as a node label */
const topologyLabels: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['topology.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['topology.kubernetes.io/region', 'topology.kubernetes.io/region'],
]);

/** Zones or regions of a volume according to one of its labels. */
interface VolumeZones {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

const reads = ['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass'] as const satisfies ListedKind[];

/** Rejects nodes outside the zones and regions in the labels of the pod's bound volumes. */
class VolumeZone implements Plugin {
  readonly name = name;
  readonly reads = reads;
  readonly #cluster: ClusterLister;
  readonly #interchangeable: InterchangeableClaims;

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
    this.#interchangeable = new InterchangeableClaims(cluster);
  }

  sign(pod: Pod): string {
    return this.#interchangeable.signSharedClaims(pod);
  }

  signCluster(pod: Pod): string {
    const { listed } = this.#cluster;
    return pod.volumes === noVolumes ? '' : reads.map((kind) => listed.revision(kind)).join(' ');
  }

  preFilter(state: CycleState, pod: Pod): Status | undefined {
    const zones = this.#zonesOf(pod);
    if (zones instanceof Status) return zones;
    if (zones.length === 0) return Status.skipThroughout;
    state.write(zonesKey, zones);
    return undefined;
  }

  filter(state: CycleState, _pod: Pod, { node }: NodeView): Status | undefined {
    const { labels } = node;
    // A cluster with a single zone may have no zone labels.
    if (!hasTopology(labels)) return undefined;
    for (const { key, values } of state.read<readonly VolumeZones[]>(zonesKey)!) {
      const value = labels[key] ?? labels[topologyLabels.get(key)!];
      if (value === undefined || !values.has(value)) return wrongZone;
    }
    return undefined;
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [
      { resource: 'StorageClass', actions: ['Add'], hint: afterClass },
      { resource: 'Node', actions: ['Add', 'Update'], hint: afterNode },
      { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], hint: afterClaim },
      {
        resource: 'PersistentVolume',
        actions: ['Add', 'Update'],
        hint: (pod, event) => mayHaveMoved(event) && usesVolume(pod, event.object.name, this.#cluster.listed),
      },
    ];
  }

  /** Returns the zones of the bound volumes. Rejects the pod if a volume is unbound and not delayed until the pod has a node. */
  #zonesOf(pod: Pod): readonly VolumeZones[] | Status {
    const { listed } = this.#cluster;
    const zones: VolumeZones[] = [];
    for (const { claimName, isEphemeral } of claimVolumesOf(pod)) {
      if (isEphemeral) continue;
      if (claimName === '') return rejection('PersistentVolumeClaim had no name');
      const claim = listed.get('PersistentVolumeClaim', pod.namespace, claimName);
      if (claim === undefined) return rejection(claimNotFound(claimName));
      const { volumeName, className } = claim;
      if (volumeName !== '') {
        const volume = listed.get('PersistentVolume', '', volumeName);
        if (volume === undefined) return rejection(volumeNotFound(volumeName));
        zones.push(...zonesOf(volume));
        continue;
      }
      if (className === '') return rejection('PersistentVolumeClaim had no pv name and storageClass name');
      const storageClass = listed.get('StorageClass', '', className);
      if (storageClass === undefined) return rejection(classNotFound(className));
      if (storageClass.bindingMode === undefined) return rejection(withoutBindingMode(className));
      if (!waitsForConsumer(storageClass)) return rejection('PersistentVolume had no name');
    }
    return zones;
  }
}

function rejection(text: string): Status {
  return new Status('UnschedulableAndUnresolvable', { text, code: 'VolumeUnavailable' }, name);
}

function hasTopology(labels: Labels): boolean {
  for (const key of topologyLabels.keys()) if (labels[key] !== undefined) return true;
  return false;
}

/** A label may list several zones; ignores a label that contains an empty one. */
function zonesOf({ labels }: PersistentVolume): readonly VolumeZones[] {
  const zones: VolumeZones[] = [];
  for (const key of topologyLabels.keys()) {
    const values = labels[key]?.split('__').map((value) => value.trim());
    if (values?.every((value) => value !== '')) zones.push({ key, values: new Set(values) });
  }
  return zones;
}

function afterClass(_pod: Pod, event: ClusterEvent): boolean {
  return !('object' in event) || event.object.kind !== 'StorageClass' || waitsForConsumer(event.object);
}

function afterNode(_pod: Pod, event: ClusterEvent): boolean {
  return event.resource !== 'Node' || event.action !== 'Update' || !sameLabels(event.old!.labels, event.new.labels);
}

function afterClaim(pod: Pod, event: ClusterEvent): boolean {
  return !('object' in event) || usesClaim(pod, event.object, { ephemeral: false });
}

/** Returns whether the volume is new, or its zone labels have changed. */
function mayHaveMoved(event: ClusterEvent): event is Extract<ClusterEvent, { readonly object: ListedObject }> {
  if (!('object' in event) || event.object.kind !== 'PersistentVolume') return false;
  if (event.old?.kind !== 'PersistentVolume') return true;
  const [before, now] = [event.old.labels, event.object.labels];
  return [...topologyLabels.keys()].some((key) => before[key] !== now[key]);
}

const knownArguments = noArguments(name);

export const createVolumeZone: PluginFactory = (args, { cluster }) => {
  knownArguments.read(args);
  return new VolumeZone(cluster);
};
