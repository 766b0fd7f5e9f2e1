import type { ResourceNames } from '../../api/resource-names.ts';
import type { AmountsView } from '../../cluster/amounts.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Route } from '../route.ts';
import { isWish, pageAnswer, pageWish, readPage } from './page.ts';

/** Claims of one node that are shown; the rest is counted. */
const mostClaims = 20;

/**
 * /debug/cache: the nodes as the scheduler sees them: what they have, what is requested of it (by pods that run there or are assumed there), and
 * the room that is kept on them. cpu is in millicores, memory and ephemeral-storage in bytes, everything else in units.
 */
export function cacheRoute(scheduler: Pick<Scheduler, 'picture'>): Route {
  return {
    path: '/debug/cache',
    isCostly: true,
    async answer(query) {
      const wish = pageWish(query, ['name']);
      if (!isWish(wish)) return wish;
      const { cluster } = scheduler.picture;
      const named = wish.name === undefined ? undefined : cluster.node(wish.name);
      const source = wish.name === undefined ? cluster.nodes : named === undefined ? [] : [named];
      const page = await readPage(
        source,
        wish,
        () => true,
        (node) => describe(node, scheduler.picture.cluster.resources),
      );
      const counts = { nodes: cluster.nodes.length, pods: cluster.podCount, assumedPods: cluster.assumedCount };
      return pageAnswer('nodes', page, { counts });
    },
  };
}

function describe({ name, node, pods, allocatable, requested, claims }: NodeView, resources: ResourceNames): object {
  const shown = [...claims.values()].slice(0, mostClaims);
  return {
    name,
    ...(node.unschedulable && { unschedulable: true }),
    pods: pods.size,
    requested: amounts(requested, resources),
    allocatable: amounts(allocatable, resources),
    ...(claims.size > 0 && {
      claims: shown.map(({ kind, claimant }) => ({ kind, pod: claimant.key, priority: claimant.priority })),
    }),
    ...(claims.size > shown.length && { moreClaims: claims.size - shown.length }),
  };
}

/** Resource name -> amount; those of which there is none are left out. */
function amounts(all: AmountsView, resources: ResourceNames): Readonly<Record<string, number>> {
  return Object.fromEntries(all.entries().map(([id, amount]) => [resources.nameOf(id), amount]));
}
