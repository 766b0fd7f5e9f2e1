import type { Pod } from '../api/pod.ts';
import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { EventHints } from '../framework/event-hints.ts';
import type { QueuedEntity } from './queued-entity.ts';

/**
 * Entities that PreEnqueue rejected, by the plugin that did, where events may change its mind. What depends on the entity alone (its gates,
 * its group) is asked about again when that changes, and costs nothing here.
 */
export class GatedEntities {
  /** hints of a profile -> plugin -> those that it rejected */
  readonly #listening = new Map<EventHints, Map<string, Set<QueuedEntity>>>();
  /** entity -> the set above that it is in, if it is in one */
  readonly #sets = new Map<QueuedEntity, Set<QueuedEntity> | undefined>();

  get size(): number {
    return this.#sets.size;
  }

  /** The plugin rejects the entity from now on, whoever did before. */
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

  /** Those that their plugin may let in because of the event, in the order in which they came. */
  helpedBy(event: ClusterEvent): readonly QueuedEntity[] {
    const helped: QueuedEntity[] = [];
    for (const [hints, byPlugin] of this.#listening) {
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
    const byPlugin = this.#listening.get(hints) ?? new Map<string, Set<QueuedEntity>>();
    this.#listening.set(hints, byPlugin);
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
