import type { SimulatedNodeSpec } from './node-object.ts';

/** A Node as the API shows it, as far as the simulation needs it to take the Node over. */
export interface AdoptableNode extends SimulatedNodeSpec {
  /** A kubelet, real or simulated, has registered it. */
  readonly hasKubelet: boolean;
}

interface RawNode {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

/** What a Node has that says neither `status.allocatable` nor `status.capacity`. */
const defaultAllocatable = { cpu: '2', memory: '8Gi' };

export function readAdoptableNode(object: unknown): AdoptableNode {
  const { metadata, status } = object as RawNode;
  return {
    name: metadata.name,
    allocatable: status?.allocatable ?? status?.capacity ?? defaultAllocatable,
    hasKubelet: (status?.nodeInfo?.kubeletVersion ?? '') !== '',
  };
}
