import type { ShapePoint } from '../utilization-shape.ts';
import { valueAt } from '../utilization-shape.ts';
import { wholePercent } from '../whole-percent.ts';
import type { VolumesOnNode } from './volume-choice.ts';

interface ClassUsage {
  requested: number;
  capacity: number;
}

/**
 * kube-scheduler's score, from 0 to 100. Per class, computes the utilization of the existing volumes, or of the storage capacity if all
 * volumes will be provisioned. Rates it by the shape, then takes the rounded mean.
 */
export function volumeScore({ bindings, provisions }: VolumesOnNode, shape: readonly ShapePoint[]): number {
  /** class -> requested and available capacity */
  const classes = new Map<string, ClassUsage>();
  const usageOf = (className: string): ClassUsage => {
    let usage = classes.get(className);
    if (usage === undefined) classes.set(className, (usage = { requested: 0, capacity: 0 }));
    return usage;
  };
  for (const { claim, volume } of bindings) {
    const usage = usageOf(volume.statedClass);
    usage.requested += claim.requested ?? 0;
    usage.capacity += volume.capacity;
  }
  for (const { claim, capacity } of bindings.length > 0 ? [] : provisions) {
    if (capacity === undefined) continue;
    const usage = usageOf(claim.statedClass);
    usage.requested += claim.requested ?? 0;
    // The claims of a class share the capacity.
    usage.capacity = capacity.capacity;
  }
  if (classes.size === 0) return 0;
  let sum = 0;
  for (const { requested, capacity } of classes.values()) {
    const isFull = capacity === 0 || requested > capacity;
    sum += valueAt(shape, isFull ? 100 : wholePercent(requested, capacity));
  }
  return Math.round(sum / classes.size);
}
