import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeView } from '../../../cluster/node-info.ts';

/** So many are tried at most. */
const mostDomains = 64;
/** So often all nodes may be gone through in trying them. */
const mostPasses = 4;

interface Domain {
  readonly indexes: readonly number[];
  /** How often what the members ask for together would go into what is free there. */
  readonly capacity: number;
  /** The least of the names of its nodes. */
  readonly name: string;
}

/**
 * Sets of nodes by how much room they have for the members, the roomiest first; those that can not hold as many as are needed are
 * left out, and those that would take too long. Equal ones are in the order of their nodes' names: in which order nodes came to be known
 * decides nothing.
 */
export function domainsByFreeCapacity(
  { nodes }: Cluster,
  domains: readonly (readonly number[])[],
  members: readonly Pod[],
  needed: number,
): readonly (readonly number[])[] {
  const requests = leastRequests(members, needed);
  const roomy: Domain[] = [];
  for (const indexes of domains) {
    let capacity = Infinity;
    for (const [id, amount] of requests) {
      let free = 0;
      for (const index of indexes) free += Math.max(0, nodes[index]!.free(id));
      capacity = Math.min(capacity, free / amount);
    }
    if (capacity >= 1) roomy.push({ indexes, capacity, name: leastName(nodes, indexes) });
  }
  roomy.sort((a, b) => b.capacity - a.capacity || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  let left = mostPasses * nodes.length;
  return roomy
    .slice(0, mostDomains)
    .map(({ indexes }) => indexes)
    .filter(({ length }) => (left -= length) >= 0);
}

function leastName(nodes: readonly NodeView[], indexes: readonly number[]): string {
  let least = nodes[indexes[0]!]?.name ?? '';
  for (const index of indexes) if (nodes[index]!.name < least) least = nodes[index]!.name;
  return least;
}

/** resource id -> what as many of them as are needed ask for at least, where that is something */
function leastRequests(members: readonly Pod[], needed: number): ReadonlyMap<number, number> {
  /** resource id -> what each asks for that asks for some */
  const asked = new Map<number, number[]>();
  for (const { template } of members) {
    const { ids, amounts } = template.requests;
    ids.forEach((id, i) => {
      const known = asked.get(id);
      if (known === undefined) asked.set(id, [amounts[i]!]);
      else known.push(amounts[i]!);
    });
  }
  const sums = new Map<number, number>();
  for (const [id, amounts] of asked) {
    const spared = members.length - needed;
    const sum = amounts
      .sort((a, b) => a - b)
      .slice(0, Math.max(0, amounts.length - spared))
      .reduce((total, amount) => total + amount, 0);
    if (sum > 0) sums.set(id, sum);
  }
  return sums;
}
