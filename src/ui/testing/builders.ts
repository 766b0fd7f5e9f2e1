import type { TimelineEntity } from '../../api/timeline/timeline-entity.ts';
import type { Transition } from '../../api/timeline/transition.ts';
import type { Lane } from '../lane.ts';
import { nameOf } from '../lane.ts';

export function lane(entity: TimelineEntity, ...transitions: readonly Transition[]): Lane {
  return { entity, name: nameOf(entity), transitions };
}
