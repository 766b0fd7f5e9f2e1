import type { ListedMetadata } from './listed-metadata.ts';

/** Projection of a storage.k8s.io/v1 VolumeAttachment. */
export interface VolumeAttachment {
  readonly kind: 'VolumeAttachment';
  readonly namespace: '';
  readonly name: string;
  /** The node. */
  readonly group: string;
  /** The driver. */
  readonly attacher: string;
  /** PersistentVolume. Empty: an inline volume. */
  readonly volumeName: string;
}

interface RawVolumeAttachment {
  readonly metadata: ListedMetadata;
  readonly spec?: {
    readonly attacher?: string;
    readonly nodeName?: string;
    readonly source?: { readonly persistentVolumeName?: string };
  };
}

export function projectVolumeAttachment(input: unknown): VolumeAttachment {
  const { metadata, spec } = input as RawVolumeAttachment;
  return {
    kind: 'VolumeAttachment',
    namespace: '',
    name: metadata.name,
    group: spec?.nodeName ?? '',
    attacher: spec?.attacher ?? '',
    volumeName: spec?.source?.persistentVolumeName ?? '',
  };
}
