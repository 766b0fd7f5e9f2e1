import type { Labels } from './label-selector.ts';
import type { NodeSelectorTerm } from './node-selector.ts';

/** A volume as a CSI driver knows it. */
export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
}

/** A volume that names a storage system directly, as was done before CSI. */
export interface InTreeVolume {
  /** For example `kubernetes.io/aws-ebs`. */
  readonly plugin: string;
  /**
   * What it is to the CSI driver that has taken over, or why it cannot be said; undefined: none has, as far as scheduling is
   * concerned.
   */
  readonly migrated: CsiVolume | { readonly problem: string } | undefined;
}

/** The fields of a volume, of a pod or a PersistentVolume, that name a storage system for which there is a CSI driver. */
export interface RawInTreeVolume {
  readonly awsElasticBlockStore?: { readonly volumeID: string };
  readonly gcePersistentDisk?: { readonly pdName: string; readonly readOnly?: boolean };
  readonly cinder?: { readonly volumeID: string };
  readonly azureDisk?: { readonly diskURI: string; readonly kind?: string };
  readonly portworxVolume?: { readonly volumeID: string };
  readonly azureFile?: object;
  readonly vsphereVolume?: object;
}

interface Migration {
  readonly driver: string;
  /** The node label by which the driver tells zones; undefined: it does not. */
  readonly zoneKey?: string;
}

/** in-tree plugin -> the driver that has taken over */
const migrations: ReadonlyMap<string, Migration> = new Map([
  ['kubernetes.io/aws-ebs', { driver: 'ebs.csi.aws.com', zoneKey: 'topology.ebs.csi.aws.com/zone' }],
  ['kubernetes.io/gce-pd', { driver: 'pd.csi.storage.gke.io', zoneKey: 'topology.gke.io/zone' }],
  ['kubernetes.io/cinder', { driver: 'cinder.csi.openstack.org', zoneKey: 'topology.cinder.csi.openstack.org/zone' }],
  ['kubernetes.io/azure-disk', { driver: 'disk.csi.azure.com' }],
  ['kubernetes.io/portworx-volume', { driver: 'pxd.portworx.com' }],
]);

/** Those for which there is a driver that kube-scheduler does not count for: an in-tree provisioner of that name is left aside. */
const withoutMigration: ReadonlySet<string> = new Set(['kubernetes.io/azure-file', 'kubernetes.io/vsphere-volume']);

/** The driver in whose place a provisioner of this in-tree name stands; false: for one that does not count; undefined: it is no in-tree one. */
export function driverOfInTree(provisioner: string): string | false | undefined {
  return migrations.get(provisioner)?.driver ?? (withoutMigration.has(provisioner) ? false : undefined);
}

const zoneLabel = 'topology.kubernetes.io/zone';
const regionLabel = 'topology.kubernetes.io/region';
const oldZoneLabel = 'failure-domain.beta.kubernetes.io/zone';
const oldRegionLabel = 'failure-domain.beta.kubernetes.io/region';
const zoneDelimiter = '__';
const unspecified = 'UNSPECIFIED';

/** `labels`: of the PersistentVolume; absent for a volume of a pod. Undefined when it names no such system. */
export function inTreeVolumeOf(raw: RawInTreeVolume, labels: Labels | undefined): InTreeVolume | undefined {
  if (raw.awsElasticBlockStore) return made('kubernetes.io/aws-ebs', awsHandle(raw.awsElasticBlockStore.volumeID));
  if (raw.gcePersistentDisk) return made('kubernetes.io/gce-pd', googleHandle(raw.gcePersistentDisk.pdName, labels));
  if (raw.cinder) return made('kubernetes.io/cinder', { handle: raw.cinder.volumeID });
  if (raw.azureDisk) return made('kubernetes.io/azure-disk', azureHandle(raw.azureDisk));
  if (raw.portworxVolume) return made('kubernetes.io/portworx-volume', { handle: raw.portworxVolume.volumeID });
  if (raw.azureFile) return { plugin: 'kubernetes.io/azure-file', migrated: undefined };
  if (raw.vsphereVolume) return { plugin: 'kubernetes.io/vsphere-volume', migrated: undefined };
  return undefined;
}

/** Which nodes the driver that has taken over would attach such a PersistentVolume to: its zones in the driver's own label. */
export function migratedAffinity(
  plugin: string,
  terms: readonly NodeSelectorTerm[] | undefined,
  labels: Labels,
): readonly NodeSelectorTerm[] | undefined {
  const zoneKey = migrations.get(plugin)?.zoneKey;
  if (zoneKey === undefined) return terms;
  const [zone, region] = topologyLabels(terms, labels);
  const renamed = new Map<string, string>();
  let moved = terms;
  if (valuesOf(terms, zone).length > 0) {
    renamed.set(zone, zoneKey);
  } else if (Object.hasOwn(labels, zone)) {
    moved = withZones(terms, zoneKey, labels[zone]!.split(zoneDelimiter));
  }
  if (region === oldRegionLabel) renamed.set(oldRegionLabel, regionLabel);
  return moved?.map((term) => ({
    ...term,
    ...(term.matchExpressions && {
      matchExpressions: term.matchExpressions.map((each) => ({ ...each, key: renamed.get(each.key) ?? each.key })),
    }),
  }));
}

type Handle = { readonly handle: string } | { readonly problem: string };

function made(plugin: string, found: Handle): InTreeVolume {
  const { driver } = migrations.get(plugin)!;
  return { plugin, migrated: 'problem' in found ? found : { driver, handle: found.handle } };
}

/** Volumes were once named by a URL, with the zone as its host. */
function awsHandle(volumeID: string): Handle {
  if (!volumeID.startsWith('aws://')) return { handle: volumeID };
  const path = /^aws:\/\/[^/?#]*([^?#]*)/.exec(volumeID)![1]!;
  const name = path.replace(/^\/+|\/+$/g, '');
  if (/^vol-[^/]*$/.test(name)) return { handle: name };
  return { problem: `failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${volumeID})` };
}

/** The zone, or the region of several zones, is part of the handle. */
function googleHandle(name: string, labels: Labels | undefined): Handle {
  const named = [labels?.[oldZoneLabel], labels?.[zoneLabel]];
  const text = named.find((value) => value !== undefined && value !== '') ?? '';
  const zones = text.split(zoneDelimiter);
  if (zones.length === 1) return { handle: `projects/${unspecified}/zones/${text || unspecified}/disks/${name}` };
  const regions = new Set<string>();
  for (const zone of zones) {
    const parts = zone.split('-');
    if (parts.length !== 3) {
      const problem = `zone in unexpected format, expected: {locale}-{region}-{zone}, got: ${zone}`;
      return { problem: `failed to get region from zones: ${problem}` };
    }
    regions.add(parts.slice(0, 2).join('-'));
  }
  if (regions.size === 1) return { handle: `projects/${unspecified}/regions/${[...regions][0]}/disks/${name}` };
  const all = [...regions].sort().map((region) => `${region}:{}`);
  return {
    problem: `failed to get region from zones: multiple or no regions gotten from zones, got: map[${all.join(' ')}]`,
  };
}

function azureHandle({ diskURI, kind }: { readonly diskURI: string; readonly kind?: string }): Handle {
  if (kind === undefined || kind.toLowerCase() === 'managed') return { handle: diskURI };
  return { problem: `kind(${kind}) is not supported in csi migration` };
}

/** By which labels the volume tells its zone and its region. */
function topologyLabels(terms: readonly NodeSelectorTerm[] | undefined, labels: Labels): readonly [string, string] {
  const asksFor = (key: string): boolean =>
    terms?.some(({ matchExpressions }) => matchExpressions?.some((each) => each.key === key)) ?? false;
  if (asksFor(zoneLabel)) return [zoneLabel, regionLabel];
  if (asksFor(oldZoneLabel)) return [oldZoneLabel, oldRegionLabel];
  if (Object.hasOwn(labels, zoneLabel)) return [zoneLabel, regionLabel];
  if (Object.hasOwn(labels, oldZoneLabel)) return [oldZoneLabel, oldRegionLabel];
  return [zoneLabel, regionLabel];
}

function valuesOf(terms: readonly NodeSelectorTerm[] | undefined, key: string): readonly string[] {
  return (terms ?? []).flatMap(({ matchExpressions = [] }) =>
    matchExpressions.filter((each) => each.key === key).flatMap(({ values = [] }) => values),
  );
}

function withZones(
  terms: readonly NodeSelectorTerm[] | undefined,
  key: string,
  zones: readonly string[],
): readonly NodeSelectorTerm[] | undefined {
  const values = [...new Set(zones.map((zone) => zone.trim()).filter((zone) => zone !== ''))].sort();
  if (values.length === 0) return terms;
  const expression = { key, operator: 'In', values };
  const before: readonly NodeSelectorTerm[] = terms === undefined || terms.length === 0 ? [{}] : terms;
  return before.map((term) => ({ ...term, matchExpressions: [...(term.matchExpressions ?? []), expression] }));
}
