import { isQualifiedName } from '../../../api/qualified-name.ts';
import { parseQuantity, QuantityError } from '../../../api/quantity.ts';
import { isObject } from '../../manifests/is-object.ts';
import { metadataTypes, ordinalsTypes, podSpecTypes, typeProblems } from './field-types.ts';
import type { PlannedJson, PlannedKind } from './planned-object.ts';

/** Of one workload, and of all together: more would take minutes to plan. */
export const maxPods = 20_000;

type Problem = readonly [field: string, problem: string];

/** Fields that hold a number of pods. */
const counts = ['replicas', 'parallelism', 'completions'] as const;
const nativeResource = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Returns what is wrong with the fields that planning reads, as pairs of field path and problem. The API server may not see the object. */
export function fieldProblems(kind: PlannedKind, { metadata, spec }: PlannedJson): readonly Problem[] {
  return [...typeProblems(metadata, metadataTypes, 'metadata'), ...specProblems(kind, spec)];
}

function specProblems(kind: PlannedKind, spec: PlannedJson['spec']): readonly Problem[] {
  if (kind === 'PodGroup') return groupProblems(spec);
  if (!isObject(spec)) return [['spec', 'must be an object']];
  if (kind === 'Pod') return podProblems(spec, 'spec');
  const { template, ordinals } = spec;
  return [
    ...typeProblems(ordinals, ordinalsTypes, 'spec.ordinals'),
    ...counts.flatMap((field): readonly Problem[] => {
      const count = spec[field] ?? 0;
      if (Number.isInteger(count) && count >= 0 && count <= maxPods) return [];
      return [[`spec.${field}`, `must be a whole number from 0 to ${maxPods}, not ${JSON.stringify(count)}`]];
    }),
    ...(isObject(template) && isObject(template.spec)
      ? [
          ...typeProblems(template.metadata, metadataTypes, 'spec.template.metadata'),
          ...podProblems(template.spec, 'spec.template.spec'),
        ]
      : [['spec.template.spec', 'must be an object'] as const]),
  ];
}

function groupProblems(spec: unknown): readonly Problem[] {
  if (!isObject(spec)) return [];
  const { minMember, minResources } = spec;
  return [
    ...(minMember === undefined || (Number.isInteger(minMember) && (minMember as number) > 0)
      ? []
      : [['spec.minMember', `must be at least 1, not ${JSON.stringify(minMember)}`] as const]),
    ...amountProblems(minResources, 'spec.minResources', true),
  ];
}

function podProblems(spec: Record<string, unknown>, path: string): readonly Problem[] {
  const { containers, initContainers = [], resources, overhead } = spec;
  if (!Array.isArray(containers) || containers.length === 0)
    return [[`${path}.containers`, 'must be a list of at least one container']];
  if (!Array.isArray(initContainers)) return [[`${path}.initContainers`, 'must be a list']];
  return [
    ...typeProblems(spec, podSpecTypes, path),
    ...containers.flatMap((each, index) => containerProblems(each, `${path}.containers[${index}]`)),
    ...initContainers.flatMap((each, index) => containerProblems(each, `${path}.initContainers[${index}]`)),
    ...resourceProblems(resources, `${path}.resources`),
    ...amountProblems(overhead, `${path}.overhead`, false),
  ];
}

function containerProblems(container: unknown, path: string): readonly Problem[] {
  if (!isObject(container)) return [[path, 'must be an object']];
  return resourceProblems(container.resources, `${path}.resources`);
}

function resourceProblems(resources: unknown, path: string): readonly Problem[] {
  if (resources === undefined || resources === null) return [];
  if (!isObject(resources)) return [[path, 'must be an object']];
  return (['requests', 'limits'] as const).flatMap((field) =>
    amountProblems(resources[field], `${path}.${field}`, false),
  );
}

/** `isOfGroup`: the amounts may also name the number of pods. */
function amountProblems(amounts: unknown, path: string, isOfGroup: boolean): readonly Problem[] {
  if (amounts === undefined || amounts === null) return [];
  if (!isObject(amounts)) return [[path, 'must be an object with a quantity of each resource']];
  return Object.entries(amounts).flatMap(([name, amount]): readonly Problem[] => {
    const field = `${path}[${name}]`;
    const isNamed = nativeResource.test(name) || (name.includes('/') && isQualifiedName(name));
    if (!isNamed && !(isOfGroup && name === 'pods')) {
      const names = 'cpu, memory, ephemeral-storage, hugepages-<size> or a name with a domain, such as nvidia.com/gpu';
      return [[field, `is no resource of a container; use ${names}`]];
    }
    try {
      return parseQuantity(amount).unscaled < 0 ? [[field, 'must not be negative']] : [];
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      return [[field, error.message]];
    }
  });
}
