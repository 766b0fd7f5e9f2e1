import type { ResourceNames } from '../../api/resource-names.ts';
import type { AmountsView } from '../../cluster/amounts.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Route } from '../route.ts';
import { isPageRequest, pageAnswer, pageRequest, readPage } from './page.ts';

/** Maximum reservations shown per node; the rest is only counted. */
const maxReservations = 20;

/**
 * Serves /debug/cache: the nodes of the cluster cache with their allocatable resources, the requests of the pods bound or assumed
 * there, and their reservations. cpu is in millicores. memory and ephemeral-storage are in bytes. Everything else is in units.
 */
export function cacheRoute(scheduler: Pick<Scheduler, 'state'>): Route {
  return {
    path: '/debug/cache',
    isCostly: true,
    async answer(query) {
      const request = pageRequest(query, ['name']);
      if (!isPageRequest(request)) return request;
      const { cluster } = scheduler.state;
      const named = request.name === undefined ? undefined : cluster.node(request.name);
      const source = request.name === undefined ? cluster.nodes : named === undefined ? [] : [named];
      const page = await readPage(
        source,
        request,
        () => true,
        (node) => describe(node, scheduler.state.cluster.resources),
      );
      const counts = { nodes: cluster.nodes.length, pods: cluster.podCount, assumedPods: cluster.assumedCount };
      return pageAnswer('nodes', page, { counts });
    },
  };
}

function describe(
  { name, node, pods, allocatable, requested, reservations }: NodeView,
  resources: ResourceNames,
): object {
  const shown = [...reservations.values()].slice(0, maxReservations);
  return {
    name,
    ...(node.unschedulable && { unschedulable: true }),
    pods: pods.size,
    requested: amounts(requested, resources),
    allocatable: amounts(allocatable, resources),
    ...(reservations.size > 0 && {
      reservations: shown.map(({ kind, owner }) => ({ kind, pod: owner.key, priority: owner.priority })),
    }),
    ...(reservations.size > shown.length && { moreReservations: reservations.size - shown.length }),
  };
}

/** Returns resource name -> amount, without amounts of zero. */
function amounts(all: AmountsView, resources: ResourceNames): Readonly<Record<string, number>> {
  return Object.fromEntries(all.entries().map(([id, amount]) => [resources.nameOf(id), amount]));
}
