import { plainName, qualifiedName } from '../../api/qualified-name.ts';
import type { ReportProblem } from '../argument-schema.ts';
import { PluginArguments } from '../plugin-arguments.ts';
import { utilizationShape } from '../utilization-shape.ts';
import type { ShapePoint } from '../utilization-shape.ts';

export interface ScoredResource {
  readonly name: string;
  /** 1 to 100 */
  readonly weight: number;
}

export type AllocationStrategy =
  | { readonly type: 'LeastAllocated' | 'MostAllocated' }
  /** The utilization of the points ascends; there is at least one point. */
  | { readonly type: 'RequestedToCapacityRatio'; readonly shape: readonly ShapePoint[] };

export interface FitArguments {
  readonly strategy: AllocationStrategy;
  readonly scored: readonly ScoredResource[];
  /** Extended resources that Filter ignores. */
  readonly ignoredResources: readonly string[];
  /** Groups (the part before the slash) of extended resources that Filter ignores. */
  readonly ignoredResourceGroups: readonly string[];
}

const defaultScored: readonly ScoredResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

const resourceName = { type: 'string', pattern: `^${qualifiedName}$` } as const;

/** kube-scheduler's NodeResourcesFitArgs. */
export const fitArguments = new PluginArguments('NodeResourcesFit', {
  type: 'object',
  additionalProperties: false,
  properties: {
    ignoredResources: {
      type: 'array',
      items: { ...resourceName, mustBe: 'a resource name such as "example.com/gpu"' },
      default: [],
    },
    ignoredResourceGroups: {
      type: 'array',
      items: {
        type: 'string',
        pattern: `^${plainName}$`,
        mustBe: 'the part of a resource name before the slash, such as "example.com"',
      },
      default: [],
    },
    scoringStrategy: {
      type: 'object',
      additionalProperties: false,
      required: ['type'],
      properties: {
        type: { enum: ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'] },
        resources: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['name'],
            properties: {
              name: { ...resourceName, mustBe: 'a resource name such as "cpu"' },
              // kube-scheduler treats 0 as 1, but a user who writes 0 means something else.
              weight: { type: 'integer', minimum: 1, maximum: 100, default: 1 },
            },
          },
          uniqueBy: ['name'], // kube-scheduler would count a duplicate twice
          default: defaultScored,
        },
        requestedToCapacityRatio: {
          type: 'object',
          additionalProperties: false,
          required: ['shape'],
          properties: { shape: utilizationShape },
        },
      },
      check: (
        {
          type,
          requestedToCapacityRatio: ratio,
        }: { readonly type: string; readonly requestedToCapacityRatio?: object },
        report: ReportProblem,
      ) => {
        const isRatio = type === 'RequestedToCapacityRatio';
        if (isRatio === (ratio !== undefined)) return;
        const problem = isRatio
          ? 'is missing; the type RequestedToCapacityRatio requires it'
          : `must be absent: only the type RequestedToCapacityRatio uses it, not ${type}`;
        report(['requestedToCapacityRatio'], problem);
      },
      default: { type: 'LeastAllocated' },
    },
  },
});

/** Reads kube-scheduler's NodeResourcesFitArgs, with its defaults. Throws PluginArgumentsError. */
export function readFitArguments(args: unknown): FitArguments {
  const { scoringStrategy, ignoredResources, ignoredResourceGroups } = fitArguments.read(args);
  const { type, resources, requestedToCapacityRatio } = scoringStrategy;
  return {
    strategy: type === 'RequestedToCapacityRatio' ? { type, shape: requestedToCapacityRatio!.shape } : { type },
    scored: resources.length === 0 ? defaultScored : resources,
    ignoredResources,
    ignoredResourceGroups,
  };
}
