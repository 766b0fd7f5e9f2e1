import type { Clock } from '../../base/clock.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Route } from '../route.ts';
import { isWish, pageAnswer, pageWish, readPage } from './page.ts';
import { shortened } from './shortened.ts';

/**
 * /debug/queue: how many entities each store holds, and the entities, lone pods and whole groups: since when they are ready, how often they
 * were tried, and why they are not scheduled.
 */
export function queueRoute(scheduler: Pick<Scheduler, 'picture'>, clock: Clock): Route {
  return {
    path: '/debug/queue',
    isCostly: true,
    async answer(query) {
      const wish = pageWish(query, ['namespace', 'name']);
      if (!isWish(wish)) return wish;
      const { queue } = scheduler.picture;
      const page = await readPage(
        queue.entities(),
        wish,
        (entity) => {
          const { namespace, name } = identityOf(entity);
          return (wish.namespace ?? namespace) === namespace && (wish.name ?? name) === name;
        },
        (entity) => describe(entity, scheduler.picture, clock),
      );
      return pageAnswer('entities', page, { counts: queue.sizes });
    },
  };
}

function identityOf({ candidate }: QueuedEntity): { readonly namespace: string; readonly name: string } {
  if (candidate.kind === 'pod') return candidate.pod;
  const { key } = candidate.gang;
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function describe(entity: QueuedEntity, picture: Scheduler['picture'], clock: Clock): object {
  const { candidate, state, readySince, attempts, sortKey } = entity;
  const { refusedBy } = entity.rejection;
  const at = (monotonic: number): string => iso(clock.now() + monotonic - clock.monotonic());
  const pod = candidate.kind === 'pod' ? candidate.pod : candidate.gang.pending.values().next().value;
  const verdict = pod === undefined ? undefined : picture.verdictOf(pod.uid);
  const message = state.kind === 'gated' ? state.status.message : verdict?.message;
  return {
    kind: candidate.kind === 'pod' ? 'Pod' : 'PodGroup',
    ...identityOf(entity),
    store: state.kind,
    ...(state.kind === 'backoff' && { until: at(state.until) }),
    ...(state.kind === 'unschedulable' && { since: at(state.since) }),
    priority: sortKey.priority,
    ...(readySince !== undefined && { readySince: iso(readySince) }),
    attempts,
    ...(refusedBy.size > 0 && { refusedBy: [...refusedBy] }),
    ...(message !== undefined && { message: shortened(message) }),
    ...(verdict !== undefined && { waitsFor: verdict.waitsFor }),
  };
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
