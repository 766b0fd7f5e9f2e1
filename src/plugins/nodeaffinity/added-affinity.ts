import { compileNodeSelectorTerm, SelectorError } from '../../api/label-selector.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../api/pod.ts';
import type { ReportProblem } from '../argument-schema.ts';
import { PluginArguments } from '../plugin-arguments.ts';
import { compileNodeAffinity } from '../compile-node-affinity.ts';
import type { CompiledNodeAffinity } from '../compile-node-affinity.ts';

const term = {
  type: 'object',
  additionalProperties: false,
  properties: {
    matchExpressions: requirements('matchExpressions', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
    matchFields: requirements('matchFields', ['In', 'NotIn']),
  },
} as const;

/** kube-scheduler's NodeAffinityArgs. */
export const nodeAffinityArguments = new PluginArguments('NodeAffinity', {
  type: 'object',
  additionalProperties: false,
  properties: {
    addedAffinity: {
      type: 'object',
      additionalProperties: false,
      properties: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          type: 'object',
          additionalProperties: false,
          properties: { nodeSelectorTerms: { type: 'array', items: term } },
        },
        preferredDuringSchedulingIgnoredDuringExecution: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['weight', 'preference'],
            properties: { weight: { type: 'integer', minimum: 1, maximum: 100 }, preference: term },
          },
        },
      },
    },
  },
});

/** Reads the argument `addedAffinity`, which has the form of a pod's node affinity; undefined if absent. Throws PluginArgumentsError. */
export function readAddedAffinity(args: unknown): CompiledNodeAffinity | undefined {
  const { addedAffinity } = nodeAffinityArguments.read(args);
  return addedAffinity && compileNodeAffinity(addedAffinity, 'addedAffinity');
}

function requirements(list: 'matchExpressions' | 'matchFields', operators: readonly string[]) {
  return {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['key', 'operator'],
      properties: {
        key: { type: 'string' },
        operator: { enum: operators },
        values: { type: 'array', items: { type: 'string' } },
      },
      check: (requirement: NodeSelectorRequirement, report: ReportProblem) =>
        checkTerm(list, { [list]: [requirement] }, report),
    },
  } as const;
}

/** Reports the problems of a term with a single requirement. */
function checkTerm(list: string, only: NodeSelectorTerm, report: ReportProblem): void {
  try {
    compileNodeSelectorTerm(only);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    // The error's path is matchExpressions[0].values, and its message begins with it.
    report([error.path.slice(`${list}[0].`.length)], error.message.slice(error.path.length + 1));
  }
}
