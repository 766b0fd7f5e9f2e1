import type { TimelineEntity } from '../timeline-entity.ts';
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
