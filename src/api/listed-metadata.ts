import type { Labels } from './label-selector.ts';

/** Metadata that Tutti reads of kinds other than nodes, pods and groups. */
export interface ListedMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Labels;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly kind?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly controller?: boolean;
  }[];
}

export const noLabels: Labels = Object.freeze({});

/** Older form of the field storageClassName. The annotation takes precedence. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
