import { PluginArgumentsError, readArguments, readFields } from '../plugin-arguments.ts';

const plugin = 'NodeResourcesFit';

export type AllocationStrategy = 'LeastAllocated' | 'MostAllocated';

export interface ScoredResource {
  readonly name: string;
  /** 1 to 100 */
  readonly weight: number;
}

export interface FitArguments {
  readonly strategy: AllocationStrategy;
  readonly scored: readonly ScoredResource[];
  /** Extended resources that Filter does not look at. */
  readonly ignoredResources: readonly string[];
  /** What stands before the slash in extended resources that Filter does not look at. */
  readonly ignoredResourceGroups: readonly string[];
}

const defaultScored: readonly ScoredResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Reads kube-scheduler's NodeResourcesFitArgs, with its defaults. Throws PluginArgumentsError. */
export function readFitArguments(args: unknown): FitArguments {
  const fields = readArguments(plugin, args, ['ignoredResources', 'ignoredResourceGroups', 'scoringStrategy']);
  const ignoredResourceGroups = names(fields.ignoredResourceGroups, 'ignoredResourceGroups');
  for (const [index, group] of ignoredResourceGroups.entries()) {
    if (!group.includes('/')) continue;
    const problem = `must not contain a slash (it is what stands before it), not ${JSON.stringify(group)}`;
    throw new PluginArgumentsError(plugin, `ignoredResourceGroups[${index}]`, problem);
  }
  return {
    ...readStrategy(fields.scoringStrategy),
    ignoredResources: names(fields.ignoredResources, 'ignoredResources'),
    ignoredResourceGroups,
  };
}

function readStrategy(value: unknown): Pick<FitArguments, 'strategy' | 'scored'> {
  if (value === undefined || value === null) return { strategy: 'LeastAllocated', scored: defaultScored };
  const { type, resources, requestedToCapacityRatio } = readFields(plugin, value, 'scoringStrategy', [
    'type',
    'resources',
    'requestedToCapacityRatio',
  ]);
  if (type !== 'LeastAllocated' && type !== 'MostAllocated') {
    const problem =
      type === 'RequestedToCapacityRatio'
        ? 'RequestedToCapacityRatio is not supported yet; use LeastAllocated or MostAllocated'
        : `must be LeastAllocated or MostAllocated, not ${JSON.stringify(type)}`;
    throw new PluginArgumentsError(plugin, 'scoringStrategy.type', problem);
  }
  if (requestedToCapacityRatio !== undefined) {
    const problem = `belongs to RequestedToCapacityRatio, not to ${type}`;
    throw new PluginArgumentsError(plugin, 'scoringStrategy.requestedToCapacityRatio', problem);
  }
  return { strategy: type, scored: readScored(resources) };
}

function readScored(value: unknown): readonly ScoredResource[] {
  const path = 'scoringStrategy.resources';
  const entries = list(value, path);
  if (entries.length === 0) return defaultScored;
  return entries.map((entry, index) => {
    const { name, weight = 1 } = readFields(plugin, entry, `${path}[${index}]`, ['name', 'weight']);
    if (typeof name !== 'string' || name === '') {
      throw new PluginArgumentsError(plugin, `${path}[${index}].name`, 'must be a resource name such as "cpu"');
    }
    if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 1 || weight > 100) {
      const problem = `must be a whole number from 1 to 100, not ${JSON.stringify(weight)}`;
      throw new PluginArgumentsError(plugin, `${path}[${index}].weight`, problem);
    }
    return { name, weight };
  });
}

function names(value: unknown, path: string): readonly string[] {
  return list(value, path).map((entry, index) => {
    if (typeof entry === 'string' && entry !== '') return entry;
    throw new PluginArgumentsError(plugin, `${path}[${index}]`, `must be a name, not ${JSON.stringify(entry)}`);
  });
}

function list(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value))
    throw new PluginArgumentsError(plugin, path, `must be a list, not ${JSON.stringify(value)}`);
  return value;
}
