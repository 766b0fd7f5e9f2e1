import type { Labels } from './label-selector.ts';
import type { NodeSelectorTerm } from './node-selector.ts';

/** Identity of a volume for a CSI driver. */
export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
}

/** A volume that names a storage system directly, as before CSI. */
export interface InTreeVolume {
  /** For example `kubernetes.io/aws-ebs`. */
  readonly plugin: string;
  /**
   * The volume for the CSI driver that replaces the plugin, or why it cannot be translated. Undefined: for scheduling, no driver replaces
   * the plugin.
   */
  readonly migrated: CsiVolume | { readonly problem: string } | undefined;
}

/** Fields of a pod volume or PersistentVolume that name a storage system with a CSI driver. */
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
  /** Node label with the driver's zone, if it has one. */
  readonly zoneKey?: string;
}

/** in-tree plugin -> CSI driver that replaces it */
const migrations: ReadonlyMap<string, Migration> = new Map([
  ['kubernetes.io/aws-ebs', { driver: 'ebs.csi.aws.com', zoneKey: 'topology.ebs.csi.aws.com/zone' }],
  ['kubernetes.io/gce-pd', { driver: 'pd.csi.storage.gke.io', zoneKey: 'topology.gke.io/zone' }],
  ['kubernetes.io/cinder', { driver: 'cinder.csi.openstack.org', zoneKey: 'topology.cinder.csi.openstack.org/zone' }],
  ['kubernetes.io/azure-disk', { driver: 'disk.csi.azure.com' }],
  ['kubernetes.io/portworx-volume', { driver: 'pxd.portworx.com' }],
]);

/** In-tree plugins with a CSI driver for which kube-scheduler does not count volumes. It ignores these provisioners. */
const withoutMigration: ReadonlySet<string> = new Set(['kubernetes.io/azure-file', 'kubernetes.io/vsphere-volume']);

/** Returns the CSI driver that replaces an in-tree provisioner; false if its volumes do not count; undefined if it is not an in-tree provisioner. */
export function driverOfInTree(provisioner: string): string | false | undefined {
  return migrations.get(provisioner)?.driver ?? (withoutMigration.has(provisioner) ? false : undefined);
}

const zoneLabel = 'topology.kubernetes.io/zone';
const regionLabel = 'topology.kubernetes.io/region';
const oldZoneLabel = 'failure-domain.beta.kubernetes.io/zone';
const oldRegionLabel = 'failure-domain.beta.kubernetes.io/region';
const zoneDelimiter = '__';
const unspecified = 'UNSPECIFIED';

/** Returns the in-tree volume, or undefined if the volume names no such system. `labels` are those of the PersistentVolume; absent for a pod volume. */
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

/** Translates the node affinity of an in-tree PersistentVolume for the driver that replaces its plugin: uses the driver's own zone label. */
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

/** Parses a volume ID. Old IDs are URLs with the zone as host. */
function awsHandle(volumeID: string): Handle {
  if (!volumeID.startsWith('aws://')) return { handle: volumeID };
  const path = /^aws:\/\/[^/?#]*([^?#]*)/.exec(volumeID)![1]!;
  const name = path.replace(/^\/+|\/+$/g, '');
  if (/^vol-[^/]*$/.test(name)) return { handle: name };
  return { problem: `failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${volumeID})` };
}

/** Returns the handle, which contains the zone, or the region of several zones. */
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

/** Returns the label keys that the volume uses for its zone and region. */
function topologyLabels(terms: readonly NodeSelectorTerm[] | undefined, labels: Labels): readonly [string, string] {
  const selectsBy = (key: string): boolean =>
    terms?.some(({ matchExpressions }) => matchExpressions?.some((each) => each.key === key)) ?? false;
  if (selectsBy(zoneLabel)) return [zoneLabel, regionLabel];
  if (selectsBy(oldZoneLabel)) return [oldZoneLabel, oldRegionLabel];
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
