import { inTreeVolumeOf } from './in-tree-volume.ts';
import type { InTreeVolume, RawInTreeVolume } from './in-tree-volume.ts';

/** A disk that can be written from one place at a time. */
export type Disk =
  | { readonly system: 'gce' | 'aws' | 'iscsi'; readonly id: string; readonly readOnly: boolean }
  | {
      readonly system: 'rbd';
      readonly monitors: readonly string[];
      readonly pool: string;
      readonly image: string;
      readonly readOnly: boolean;
    };

/** A volume of a pod that scheduling has to do with. */
export type PodVolume =
  | {
      readonly type: 'claim';
      /** Of the PersistentVolumeClaim. */
      readonly claimName: string;
      /** It is made for this pod alone, which owns it. */
      readonly isEphemeral: boolean;
    }
  | {
      readonly type: 'inline';
      /** In the pod. */
      readonly name: string;
      readonly disk: Disk | undefined;
      readonly inTree: InTreeVolume | undefined;
      /** The CSI driver that makes it for the pod. */
      readonly csiDriver: string | undefined;
    };

export interface RawPodVolume extends RawInTreeVolume {
  readonly name?: string;
  readonly image?: { readonly reference?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: object;
  readonly csi?: { readonly driver?: string };
  readonly iscsi?: { readonly iqn: string; readonly readOnly?: boolean };
  readonly rbd?: {
    readonly monitors?: readonly string[];
    readonly pool?: string;
    readonly image: string;
    readonly readOnly?: boolean;
  };
}

export const noVolumes: readonly PodVolume[] = Object.freeze([]);

/** In the order of the pod's volumes. One and the same empty list for all pods that have none of these. */
export function podVolumesOf(podName: string, raw: readonly RawPodVolume[] | null | undefined): readonly PodVolume[] {
  if (raw === undefined || raw === null) return noVolumes;
  let found: PodVolume[] | undefined;
  for (const each of raw) {
    const volume = podVolumeOf(podName, each);
    if (volume !== undefined) (found ??= []).push(volume);
  }
  return found ?? noVolumes;
}

function podVolumeOf(podName: string, raw: RawPodVolume): PodVolume | undefined {
  const { name = '', persistentVolumeClaim: claim } = raw;
  if (claim) return { type: 'claim', claimName: claim.claimName, isEphemeral: false };
  if (raw.ephemeral) return { type: 'claim', claimName: `${podName}-${name}`, isEphemeral: true };
  const disk = diskOf(raw);
  const inTree = inTreeVolumeOf(raw, undefined);
  const csiDriver = raw.csi?.driver;
  if (disk === undefined && inTree === undefined && csiDriver === undefined) return undefined;
  return { type: 'inline', name, disk, inTree, csiDriver };
}

function diskOf(raw: RawPodVolume): Disk | undefined {
  const { gcePersistentDisk: google, awsElasticBlockStore: amazon, iscsi, rbd } = raw;
  if (google) return { system: 'gce', id: google.pdName, readOnly: google.readOnly === true };
  if (amazon) return { system: 'aws', id: amazon.volumeID, readOnly: false };
  if (iscsi) return { system: 'iscsi', id: iscsi.iqn, readOnly: iscsi.readOnly === true };
  if (!rbd) return undefined;
  const { monitors = [], pool = 'rbd', image, readOnly = false } = rbd;
  return { system: 'rbd', monitors, pool, image, readOnly };
}
