import type { SimulatedNodeSpec } from '../../plane/nodes/node-object.ts';

/** Returns `2 nodes with 2 CPU and 8Gi each`, or `3 nodes` if they differ. Omits the number of pods per node. */
export function describeNodes(nodes: readonly SimulatedNodeSpec[]): string {
  const count = nodes.length === 0 ? 'no nodes' : `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`;
  const sizes = new Set(nodes.map(({ allocatable }) => sizeOf(allocatable)));
  const [size] = sizes;
  return sizes.size === 1 && size !== '' ? `${count} with ${size} each` : count;
}

function sizeOf({ cpu, memory, pods: _pods, ...others }: SimulatedNodeSpec['allocatable']): string {
  const amounts = [
    ...(cpu === undefined ? [] : [`${cpu} CPU`]),
    ...(memory === undefined ? [] : [String(memory)]),
    ...Object.entries(others).map(([name, amount]) => `${amount} ${name}`),
  ];
  return [amounts.slice(0, -1).join(', '), ...amounts.slice(-1)].filter((part) => part !== '').join(' and ');
}
