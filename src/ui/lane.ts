import type { ClientTimeline } from '../api/timeline/client-timeline.ts';
import type { TimelineEntity } from '../api/timeline/timeline-entity.ts';
import type { Transition } from '../api/timeline/transition.ts';
import { stateStyles } from './state-style.ts';

/** A pod group or a pod, and what happened to it. */
export interface Lane {
  readonly entity: TimelineEntity;
  /** `<namespace>/<name>` */
  readonly name: string;
  /** In order. */
  readonly transitions: readonly Transition[];
}

export function nameOf({ subject }: Pick<TimelineEntity, 'subject'>): string {
  return `${subject.namespace}/${subject.name}`;
}

/** Returns the lanes in the order of the page: partially bound groups first, then by state, then by name. */
export function lanesOf({ entities, transitions }: Pick<ClientTimeline, 'entities' | 'transitions'>): readonly Lane[] {
  /** entity -> its transitions */
  const byEntity = new Map<string, Transition[]>();
  for (const transition of transitions) {
    const known = byEntity.get(transition.entity);
    if (known === undefined) byEntity.set(transition.entity, [transition]);
    else known.push(transition);
  }
  const lanes = [...entities.values()].map((entity) => ({
    entity,
    name: nameOf(entity),
    transitions: byEntity.get(entity.key) ?? [],
  }));
  return lanes.sort(
    (a, b) =>
      stateStyles[a.entity.state].rank - stateStyles[b.entity.state].rank ||
      compare(a.name, b.name) ||
      compare(a.entity.key, b.entity.key),
  );
}

/** Without the rules of a language, which are slow for thousands of names. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns whether a lane is what a user looks for: its name, namespace or state contains the text. */
export function matches({ name, entity }: Lane, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return name.toLowerCase().includes(wanted) || stateStyles[entity.state].name.includes(wanted);
}
