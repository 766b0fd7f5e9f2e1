import type { TimelineEntity } from '../timeline-entity.ts';
import type { TimelineDelta, TimelineSnapshot } from '../timeline-message.ts';
import type { Transition } from '../transition.ts';

/** A group in the namespace ml. */
export function group(name: string, more: Partial<TimelineEntity> = {}): TimelineEntity {
  const subject = { kind: 'PodGroup', source: 'scheduling.x-k8s.io', namespace: 'ml', name } as const;
  return { key: `gang/ml/${name}`, subject, state: 'Waiting', createdAt: 0, ...more };
}

let sequence = 0;

/** A transition of the group red. Later ones have greater numbers. */
export function transition(time: number, state: Transition['state'], more: Partial<Transition> = {}): Transition {
  return { sequence: ++sequence, time, kind: 'Changed', entity: 'gang/ml/red', state, ...more };
}

/** A snapshot of the epoch `a`, with the transitions and the group red. */
export function snapshot(transitions: readonly Transition[], more: Partial<TimelineSnapshot> = {}): TimelineSnapshot {
  return {
    ...{ kind: 'snapshot', epoch: 'a', now: 100_000, isLeading: true, heldSince: 0, capacity: 20_000 },
    ...{ sequence: transitions.at(-1)?.sequence ?? 0, entities: [group('red')], nodes: [], transitions, ...more },
  };
}

/** A delta that continues after `from`. */
export function delta(
  from: number,
  transitions: readonly Transition[],
  more: Partial<TimelineDelta> = {},
): TimelineDelta {
  return {
    ...{ kind: 'delta', epoch: 'a', now: 100_000, from, sequence: transitions.at(-1)?.sequence ?? from },
    ...{ entities: [], nodes: [], removedNodes: [], transitions, ...more },
  };
}
