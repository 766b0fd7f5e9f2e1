import type { ClientTimeline } from '../api/timeline/client-timeline.ts';
import type { TimelineState } from '../api/timeline/timeline-state.ts';
import { element } from './element.ts';
import { stateStyles } from './state-style.ts';

/** Returns how many groups and pods are in which state, and how many nodes there are. Partially bound ones are first, and emphasized. */
export function summaryOf({ entities, nodes }: Pick<ClientTimeline, 'entities' | 'nodes'>): readonly (Node | string)[] {
  /** state -> how many */
  const counts = new Map<TimelineState, number>();
  for (const { state } of entities.values()) if (state !== 'Gone') counts.set(state, (counts.get(state) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts]
    .sort(([a], [b]) => stateStyles[a].rank - stateStyles[b].rank)
    .flatMap(([state, count]) => {
      const text = `${count} ${stateStyles[state].name}`;
      return [', ', state === 'Partial' ? element('strong', {}, text) : text];
    })
    .slice(1);
  const colon = parts.length === 0 ? '' : ': ';
  return [`${total} groups and pods${colon}`, ...parts, `; ${nodes.size} ${nodes.size === 1 ? 'node' : 'nodes'}`];
}
