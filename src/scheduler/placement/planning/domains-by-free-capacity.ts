import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeView } from '../../../cluster/node-info.ts';

/** Maximum number of domains to try. */
const maxDomains = 64;
/** Maximum total size of the domains to try, in passes over all nodes. */
const maxPasses = 4;

interface Domain {
  readonly indexes: readonly number[];
  /** How many times the domain's free capacity covers the needed members' total request. */
  readonly capacity: number;
  /** The first of its nodes' names in alphabetical order. */
  readonly name: string;
}

/**
 * Returns topology domains as sets of node indexes, most free capacity first. Leaves out domains that cannot hold the needed
 * members, and domains that would take too long to try. Node names decide between equal domains, so the order in which nodes
 * arrived has no effect.
 */
export function domainsByFreeCapacity(
  { nodes }: Cluster,
  domains: readonly (readonly number[])[],
  members: readonly Pod[],
  needed: number,
): readonly (readonly number[])[] {
  const requests = leastRequests(members, needed);
  const fitting: Domain[] = [];
  for (const indexes of domains) {
    let capacity = Infinity;
    for (const [id, amount] of requests) {
      let free = 0;
      for (const index of indexes) free += Math.max(0, nodes[index]!.free(id));
      capacity = Math.min(capacity, free / amount);
    }
    if (capacity >= 1) fitting.push({ indexes, capacity, name: leastName(nodes, indexes) });
  }
  fitting.sort((a, b) => b.capacity - a.capacity || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  let left = maxPasses * nodes.length;
  return fitting
    .slice(0, maxDomains)
    .map(({ indexes }) => indexes)
    .filter(({ length }) => (left -= length) >= 0);
}

function leastName(nodes: readonly NodeView[], indexes: readonly number[]): string {
  let least = nodes[indexes[0]!]?.name ?? '';
  for (const index of indexes) if (nodes[index]!.name < least) least = nodes[index]!.name;
  return least;
}

/** resource id -> least total request of the needed members; resources with no request are left out */
export function leastRequests(members: readonly Pod[], needed: number): ReadonlyMap<number, number> {
  /** resource id -> requests of the members that ask for some of it */
  const requested = new Map<number, number[]>();
  for (const { template } of members) {
    const { ids, amounts } = template.requests;
    ids.forEach((id, i) => {
      const known = requested.get(id);
      if (known === undefined) requested.set(id, [amounts[i]!]);
      else known.push(amounts[i]!);
    });
  }
  const sums = new Map<number, number>();
  for (const [id, amounts] of requested) {
    const spared = members.length - needed;
    const sum = amounts
      .sort((a, b) => a - b)
      .slice(0, Math.max(0, amounts.length - spared))
      .reduce((total, amount) => total + amount, 0);
    if (sum > 0) sums.set(id, sum);
  }
  return sums;
}
