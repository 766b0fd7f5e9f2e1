import type { NodeInfo } from '../../../cluster/node-info.ts';

/** Returns everything that the cluster cache holds for a node and a dry run must not change. */
export function stateOfNode(node: NodeInfo): unknown {
  return {
    name: node.name,
    index: node.index,
    generation: node.generation,
    requested: node.requested.entries(),
    nonZero: [node.nonZeroMilliCpu, node.nonZeroMemory],
    pods: [...node.pods],
    hostPorts: [...node.hostPorts],
    reservations: [...node.reservations],
  };
}
