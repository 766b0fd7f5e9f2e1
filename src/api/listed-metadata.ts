import type { Labels } from './label-selector.ts';

/** What is read of the metadata of kinds besides nodes, pods and groups. */
export interface ListedMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Labels;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid?: string; readonly controller?: boolean }[];
}

export const noLabels: Labels = Object.freeze({});

/** The annotation that named a class before the field did; it goes first. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
