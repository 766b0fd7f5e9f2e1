import { parseGroupKey } from '../../api/group-key.ts';
import type { GroupName } from '../../api/group-key.ts';
import type { Clock } from '../../base/clock.ts';
import { safeMessage } from '../../base/safe-text.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Route } from '../route.ts';
import { isPageRequest, pageAnswer, pageRequest, readPage } from './page.ts';

/**
 * Serves /debug/queue: the number of entities per store, and the entities (single pods and whole groups): since when they are
 * ready, the number of attempts, and why they are not scheduled.
 */
export function queueRoute(scheduler: Pick<Scheduler, 'state'>, clock: Clock): Route {
  return {
    path: '/debug/queue',
    isCostly: true,
    async answer(query) {
      const request = pageRequest(query, ['namespace', 'name']);
      if (!isPageRequest(request)) return request;
      const { queue } = scheduler.state;
      const page = await readPage(
        queue.entities(),
        request,
        (entity) => {
          const { namespace, name } = identityOf(entity);
          return (request.namespace ?? namespace) === namespace && (request.name ?? name) === name;
        },
        (entity) => describe(entity, scheduler.state, clock),
      );
      return pageAnswer('entities', page, { counts: queue.sizes });
    },
  };
}

/** A pod has no source. */
function identityOf({ schedulingEntity }: QueuedEntity): Pick<GroupName, 'namespace' | 'name'> & Partial<GroupName> {
  if (schedulingEntity.kind === 'gang') return parseGroupKey(schedulingEntity.gang.key);
  const { namespace, name } = schedulingEntity.pod;
  return { namespace, name };
}

function describe(entity: QueuedEntity, scheduler: Scheduler['state'], clock: Clock): object {
  const { schedulingEntity, state, readySince, attempts, sortKey } = entity;
  const { unschedulablePlugins } = entity.rejection;
  const at = (monotonic: number): string => iso(clock.now() + monotonic - clock.monotonic());
  const pod =
    schedulingEntity.kind === 'pod' ? schedulingEntity.pod : schedulingEntity.gang.pending.values().next().value;
  const verdict = pod === undefined ? undefined : scheduler.verdictOf(pod.uid);
  const message = state.kind === 'gated' ? state.status.message : verdict?.message;
  return {
    kind: schedulingEntity.kind === 'pod' ? 'Pod' : 'PodGroup',
    ...identityOf(entity),
    store: state.kind,
    ...(state.kind === 'backoff' && { until: at(state.until) }),
    ...(state.kind === 'unschedulable' && { since: at(state.since) }),
    priority: sortKey.priority,
    ...(readySince !== undefined && { readySince: iso(readySince) }),
    attempts,
    ...(unschedulablePlugins.size > 0 && { unschedulablePlugins: [...unschedulablePlugins] }),
    ...(message !== undefined && { message: safeMessage(message) }),
    ...(verdict !== undefined && { waitsFor: verdict.waitsFor }),
  };
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
