import type { Pod } from '../api/pod.ts';
import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { EventHints } from '../framework/event-hints.ts';
import type { QueuedEntity } from './queued-entity.ts';

/**
 * Entities that PreEnqueue rejected, indexed by plugin if events may change the plugin's result. If the result depends only on the entity
 * (its gates or its group), the queue runs PreEnqueue when that changes, and this index ignores the entity.
 */
export class GatedEntities {
  /** hints of a profile -> plugin -> entities it rejected */
  readonly #byHints = new Map<EventHints, Map<string, Set<QueuedEntity>>>();
  /** entity -> the set above that contains it, if any */
  readonly #sets = new Map<QueuedEntity, Set<QueuedEntity> | undefined>();

  get size(): number {
    return this.#sets.size;
  }

  /** Records that the plugin rejects the entity, replacing an earlier plugin. */
  add(entity: QueuedEntity, plugin: string, hints: EventHints): void {
    this.remove(entity);
    const set = hints.mayUngate(plugin) ? this.#setOf(hints, plugin) : undefined;
    set?.add(entity);
    this.#sets.set(entity, set);
  }

  remove(entity: QueuedEntity): void {
    this.#sets.get(entity)?.delete(entity);
    this.#sets.delete(entity);
  }

  /** Returns the entities that their plugin may accept after the event, in order of arrival. */
  helpedBy(event: ClusterEvent): readonly QueuedEntity[] {
    const helped: QueuedEntity[] = [];
    for (const [hints, byPlugin] of this.#byHints) {
      for (const registered of hints.registered(event)) {
        for (const entity of byPlugin.get(registered.plugin) ?? []) {
          if (podsOf(entity.schedulingEntity).some((pod) => hints.helps(registered, pod, event))) helped.push(entity);
        }
      }
    }
    // A plugin may have registered an event twice.
    return [...new Set(helped)];
  }

  #setOf(hints: EventHints, plugin: string): Set<QueuedEntity> {
    const byPlugin = this.#byHints.get(hints) ?? new Map<string, Set<QueuedEntity>>();
    this.#byHints.set(hints, byPlugin);
    const set = byPlugin.get(plugin) ?? new Set();
    byPlugin.set(plugin, set);
    return set;
  }
}

function podsOf(schedulingEntity: SchedulingEntity): readonly Pod[] {
  return schedulingEntity.kind === 'pod'
    ? [schedulingEntity.pod]
    : [...schedulingEntity.gang.members.values()].filter(isOpen);
}

function isOpen({ nodeName }: Pod): boolean {
  return nodeName === '';
}
