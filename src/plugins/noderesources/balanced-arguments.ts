import { PluginArguments } from '../plugin-arguments.ts';

const defaultResources = [{ name: 'cpu' }, { name: 'memory' }] as const;

/** kube-scheduler's NodeResourcesBalancedAllocationArgs. */
export const balancedAllocationArguments = new PluginArguments('NodeResourcesBalancedAllocation', {
  type: 'object',
  additionalProperties: false,
  properties: {
    resources: {
      type: 'array',
      uniqueBy: ['name'],
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, mustBe: 'a resource name such as "cpu"' },
          // 0 counts as absent
          weight: {
            type: 'integer',
            minimum: 0,
            maximum: 1,
            default: 1,
            mustBe: '1, because all resources have the same weight',
          },
        },
      },
      default: defaultResources,
    },
  },
});

/** Returns the names of the resources to balance. Throws PluginArgumentsError. */
export function readBalancedResources(args: unknown): readonly string[] {
  const { resources } = balancedAllocationArguments.read(args);
  return (resources.length === 0 ? defaultResources : resources).map(({ name }) => name);
}
