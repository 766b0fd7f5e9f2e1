import type { Subject } from '../../../api/explain/basis.ts';
import type { QueueItem } from '../../../api/explain/lists.ts';
import type { LeaderState } from '../leader/leader-state.ts';
import { UnknownAnswerError } from '../leader/unknown-answer-error.ts';

const pageSize = 500;
/** A scheduler with more entities is broken, or is no scheduler. */
const maxPages = 1_000;

/** An entity at /debug/queue. */
interface ServedEntity {
  readonly kind: Subject['kind'];
  readonly source?: Subject['source'];
  readonly namespace: string;
  readonly name: string;
  readonly store: QueueItem['state'] | 'setAside';
  readonly until?: string;
  readonly priority: number;
  readonly readySince?: string;
  readonly attempts: number;
  readonly unschedulablePlugins?: readonly string[];
  readonly message?: string;
}

interface ServedPage {
  readonly entities: readonly ServedEntity[];
  readonly nextOffset?: number;
}

/**
 * Reads the queue of the scheduler that leads. The entities that are ready come first, by priority and then by the time since when they are
 * ready; the scheduler itself compares them in more detail.
 */
export async function queueOfLeader(leader: LeaderState): Promise<readonly QueueItem[]> {
  const served: ServedEntity[] = [];
  let offset = 0;
  for (let page = 1; page <= maxPages; page++) {
    const answer = await leader.get(`/debug/queue?limit=${pageSize}&offset=${offset}`);
    if (!isPage(answer)) throw new UnknownAnswerError('/debug/queue');
    served.push(...answer.entities);
    if (answer.nextOffset === undefined || answer.nextOffset <= offset) break;
    offset = answer.nextOffset;
  }
  const ready = served.filter(({ store }) => store !== 'gated').sort(inOrder);
  const gated = served.filter(({ store }) => store === 'gated');
  return [...ready.map((entity, index) => ({ position: index + 1, ...itemOf(entity) })), ...gated.map(itemOf)];
}

function itemOf(entity: ServedEntity): QueueItem {
  const { kind, source, namespace, name, store, until, priority, readySince, attempts, message } = entity;
  return {
    subject: { kind, ...(source !== undefined && { source }), namespace, name },
    state: store === 'setAside' ? 'inFlight' : store,
    ...(until !== undefined && { until }),
    priority,
    ...(readySince !== undefined && { readySince }),
    attempts,
    rejectedBy: entity.unschedulablePlugins ?? [],
    ...(message !== undefined && { message }),
  };
}

function inOrder(a: ServedEntity, b: ServedEntity): number {
  const [first = '', second = ''] = [a.readySince, b.readySince];
  return b.priority - a.priority || (first < second ? -1 : first > second ? 1 : 0);
}

function isPage(answer: unknown): answer is ServedPage {
  const { entities } = (answer ?? {}) as { readonly entities?: unknown };
  return (
    Array.isArray(entities) &&
    entities.every(
      (entity: Partial<ServedEntity> | null) =>
        typeof entity?.namespace === 'string' &&
        typeof entity.name === 'string' &&
        typeof entity.store === 'string' &&
        typeof entity.priority === 'number',
    )
  );
}
