import type { ReportProblem } from './argument-schema.ts';

/** Where a broken line has a corner. */
export interface ShapePoint {
  /** In percent of what the node has. */
  readonly utilization: number;
  /** 0 to 10 */
  readonly score: number;
}

/** Kube-scheduler's: a line through points, utilization in percent against a score of 0 to 10. */
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
      const before = points[index - 1]?.utilization ?? -1;
      if (utilization > before) continue;
      report([index, 'utilization'], `must be greater than ${before}, that of the point before it, not ${utilization}`);
    }
  },
} as const;

/** Of the line through the points, in tenths of their score, rounded towards the earlier point; constant before the first and after the last. */
export function valueAt(shape: readonly ShapePoint[], utilization: number): number {
  const next = shape.findIndex((point) => utilization <= point.utilization);
  if (next <= 0) return 10 * shape.at(next)!.score;
  const [from, to] = [shape[next - 1]!, shape[next]!];
  const rise = 10 * (to.score - from.score) * (utilization - from.utilization);
  return 10 * from.score + Math.trunc(rise / (to.utilization - from.utilization));
}
