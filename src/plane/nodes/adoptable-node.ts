import type { SimulatedNodeSpec } from './node-object.ts';

/** The fields of a Node that the simulation needs to take the Node over. */
export interface AdoptableNode extends SimulatedNodeSpec {
  readonly uid: string;
  /** Whether a kubelet, real or simulated, has registered the Node. */
  readonly hasKubelet: boolean;
}

interface RawNode {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

/** Resources of a Node with neither `status.allocatable` nor `status.capacity`. */
const defaultAllocatable = { cpu: '2', memory: '8Gi' };

export function readAdoptableNode(object: unknown): AdoptableNode {
  const { metadata, status } = object as RawNode;
  return {
    name: metadata.name,
    uid: metadata.uid,
    allocatable: status?.allocatable ?? status?.capacity ?? defaultAllocatable,
    hasKubelet: (status?.nodeInfo?.kubeletVersion ?? '') !== '',
  };
}
