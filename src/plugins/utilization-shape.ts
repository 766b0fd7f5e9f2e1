import type { ReportProblem } from './argument-schema.ts';

/** A point of a piecewise linear function. */
export interface ShapePoint {
  /** Percentage of the node's capacity. */
  readonly utilization: number;
  /** 0 to 10 */
  readonly score: number;
}

/** kube-scheduler's shape: points of a line from utilization in percent to a score from 0 to 10. */
export const utilizationShape = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    additionalProperties: false,
    properties: {
      utilization: { type: 'integer', minimum: 0, maximum: 100, default: 0 },
      score: { type: 'integer', minimum: 0, maximum: 10, default: 0 },
    },
  },
  check: (points: readonly ShapePoint[], report: ReportProblem) => {
    for (const [index, { utilization }] of points.entries()) {
      const previous = points[index - 1]?.utilization ?? -1;
      if (utilization > previous) continue;
      report(
        [index, 'utilization'],
        `must be greater than ${previous}, the utilization of the previous point, not ${utilization}`,
      );
    }
  },
} as const;

/**
 * Returns the value of the line in tenths of a score, rounded toward the lower point. The line is constant before the first and after
 * the last point.
 */
export function valueAt(shape: readonly ShapePoint[], utilization: number): number {
  const next = shape.findIndex((point) => utilization <= point.utilization);
  if (next <= 0) return 10 * shape.at(next)!.score;
  const [from, to] = [shape[next - 1]!, shape[next]!];
  const rise = 10 * (to.score - from.score) * (utilization - from.utilization);
  return 10 * from.score + Math.trunc(rise / (to.utilization - from.utilization));
}
