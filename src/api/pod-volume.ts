import { safeName } from '../base/safe-text.ts';
import { inTreeVolumeOf } from './in-tree-volume.ts';
import type { InTreeVolume, RawInTreeVolume } from './in-tree-volume.ts';

/** A disk that only one node can write to at a time. */
export type Disk =
  | { readonly system: 'gce' | 'aws' | 'iscsi'; readonly id: string; readonly readOnly: boolean }
  | {
      readonly system: 'rbd';
      readonly monitors: readonly string[];
      readonly pool: string;
      readonly image: string;
      readonly readOnly: boolean;
    };

/** A pod volume that affects scheduling. */
export type PodVolume =
  | {
      readonly type: 'claim';
      /** Name of the PersistentVolumeClaim. */
      readonly claimName: string;
      /** Whether the pod owns the claim, which exists only for it. */
      readonly isEphemeral: boolean;
    }
  | {
      readonly type: 'inline';
      /** Name of the volume in the pod. */
      readonly name: string;
      readonly disk: Disk | undefined;
      readonly inTree: InTreeVolume | undefined;
      /** The CSI driver of an inline CSI volume. */
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

/** Returns the volumes that affect scheduling, in the order of the pod. Pods without such volumes share one empty list. */
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
  if (claim) return { type: 'claim', claimName: safeName(claim.claimName), isEphemeral: false };
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
