import type { ShapePoint } from '../utilization-shape.ts';
import { valueAt } from '../utilization-shape.ts';
import { wholePercent } from '../whole-percent.ts';
import type { VolumesOnNode } from './volume-choice.ts';

interface Taken {
  requested: number;
  capacity: number;
}

/**
 * kube-scheduler's: for each class how much of the volumes that are there is asked for, or, where all are to be made, of the room that
 * there is for them; rated by the shape, then the mean, rounded. 0 to 100.
 */
export function volumeScore({ bindings, provisions }: VolumesOnNode, shape: readonly ShapePoint[]): number {
  /** class -> what is asked for of what there is */
  const classes = new Map<string, Taken>();
  const of = (className: string): Taken => {
    let taken = classes.get(className);
    if (taken === undefined) classes.set(className, (taken = { requested: 0, capacity: 0 }));
    return taken;
  };
  for (const { claim, volume } of bindings) {
    const taken = of(volume.statedClass);
    taken.requested += claim.requested ?? 0;
    taken.capacity += volume.capacity;
  }
  for (const { claim, capacity } of bindings.length > 0 ? [] : provisions) {
    if (capacity === undefined) continue;
    const taken = of(claim.className);
    taken.requested += claim.requested ?? 0;
    // Its claims share the room.
    taken.capacity = capacity.capacity;
  }
  if (classes.size === 0) return 0;
  let sum = 0;
  for (const { requested, capacity } of classes.values()) {
    const isAll = capacity === 0 || requested > capacity;
    sum += valueAt(shape, isAll ? 100 : wholePercent(requested, capacity));
  }
  return Math.round(sum / classes.size);
}
