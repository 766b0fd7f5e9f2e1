import { isObjectName } from '../../api/object-name.ts';
import { isLabelValue, isQualifiedName } from '../../api/qualified-name.ts';
import { parseQuantity, QuantityError, quantityToMilli } from '../../api/quantity.ts';
import type { SimulatedNodeSpec, SimulatedTaint } from '../../plane/nodes/node-object.ts';
import { isObject } from '../manifests/is-object.ts';
import { ManifestError, manifestTitle } from '../manifests/manifest.ts';
import type { Manifest } from '../manifests/manifest.ts';

export interface SplitManifests {
  /** What the Node objects among them describe. */
  readonly nodes: readonly SimulatedNodeSpec[];
  /** The others, in their order. */
  readonly others: readonly Manifest[];
}

/** Says what is wrong at a field of a manifest. */
type Complain = (field: string, message: string) => void;

interface RawNode {
  readonly metadata: { readonly name?: unknown; readonly labels?: unknown };
  readonly spec?: { readonly taints?: unknown; readonly unschedulable?: unknown };
  readonly status?: { readonly allocatable?: unknown; readonly capacity?: unknown };
}

/** That are told at once. */
const mostProblems = 100;
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/**
 * Takes the Nodes out of manifests, to be simulated: their names, labels, taints, whether they are cordoned, and what is allocatable, or the
 * capacity where that is not said; the rest of what a cluster says of its nodes, their conditions for instance, is the simulation's to say.
 * What a Node does not say it has of `defaults`, it has as `defaults` say: resource name -> quantity. Throws one ManifestError for all that
 * is wrong.
 */
export function takeNodes(
  manifests: readonly Manifest[],
  defaults: Readonly<Record<string, string | number>>,
): SplitManifests {
  const problems: string[] = [];
  const nodes = new Map<string, SimulatedNodeSpec>();
  const others: Manifest[] = [];
  for (const manifest of manifests) {
    const { object, where, lineOf } = manifest;
    if (object.apiVersion !== 'v1' || object.kind !== 'Node') {
      others.push(manifest);
      continue;
    }
    const complain: Complain = (field, message) => {
      if (problems.length === mostProblems) problems.push(`${where}: and there is more`);
      if (problems.length > mostProblems) return;
      problems.push(`${where}, line ${lineOf(field)}: ${manifestTitle(object)}: ${field}: ${message}`);
    };
    const node = readNode(object, defaults, complain);
    if (nodes.has(node.name)) complain('metadata.name', 'there is another Node of that name');
    nodes.set(node.name, node);
  }
  if (problems.length > 0) throw new ManifestError(problems);
  return { nodes: [...nodes.values()], others };
}

function readNode(
  object: object,
  defaults: Readonly<Record<string, string | number>>,
  complain: Complain,
): SimulatedNodeSpec {
  const { metadata, spec, status } = object as RawNode;
  const { name } = metadata;
  if (typeof name !== 'string' || !isObjectName(name)) {
    complain('metadata.name', 'must be a name as nodes have them: lower-case letters, digits, "-" and "."');
  }
  const labels = readLabels(metadata.labels, complain);
  const taints = readTaints(spec?.taints, complain);
  const field = status?.allocatable === undefined ? 'capacity' : 'allocatable';
  const amounts = readAmounts(status?.[field], `status.${field}`, complain);
  return {
    name: String(name),
    allocatable: { ...defaults, ...amounts },
    ...(labels !== undefined && { labels }),
    ...(taints.length > 0 && { taints }),
    ...(spec?.unschedulable === true && { unschedulable: true }),
  };
}

function readLabels(labels: unknown, complain: Complain): Readonly<Record<string, string>> | undefined {
  if (labels === undefined || labels === null) return undefined;
  if (!isObject(labels)) {
    complain('metadata.labels', 'must be a map of label to value');
    return undefined;
  }
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key))
      complain('metadata.labels', `${JSON.stringify(key)} is no name of a label, such as zone or example.com/zone`);
    if (typeof value !== 'string' || !isLabelValue(value)) {
      complain(
        `metadata.labels[${key}]`,
        `${JSON.stringify(value)} is no value that a label can have; numbers and true need quotes`,
      );
    }
  }
  return labels as Readonly<Record<string, string>>;
}

function readTaints(taints: unknown, complain: Complain): readonly SimulatedTaint[] {
  if (taints === undefined || taints === null) return [];
  if (!Array.isArray(taints)) {
    complain('spec.taints', 'must be a list of taints');
    return [];
  }
  return taints.map((taint: unknown, index) => {
    const { key, value, effect } = isObject(taint) ? taint : {};
    const place = `spec.taints[${index}]`;
    if (typeof key !== 'string' || !isQualifiedName(key))
      complain(`${place}.key`, 'must be a name such as dedicated or example.com/reserved');
    if (value !== undefined && (typeof value !== 'string' || !isLabelValue(value))) {
      complain(
        `${place}.value`,
        `${JSON.stringify(value)} is no value that a taint can have; numbers and true need quotes`,
      );
    }
    if (!effects.includes(effect as string)) complain(`${place}.effect`, `must be one of ${effects.join(', ')}`);
    return { key, effect, ...(value !== undefined && { value }) } as SimulatedTaint;
  });
}

function readAmounts(amounts: unknown, field: string, complain: Complain): Readonly<Record<string, string | number>> {
  if (amounts === undefined || amounts === null) return {};
  if (!isObject(amounts)) {
    complain(field, 'must be a map of resource to quantity');
    return {};
  }
  for (const [name, amount] of Object.entries(amounts)) {
    if (!isQualifiedName(name))
      complain(field, `${JSON.stringify(name)} is no name of a resource, such as cpu or nvidia.com/gpu`);
    if (!isAmount(amount))
      complain(`${field}[${name}]`, `${JSON.stringify(amount)} is no quantity, such as 4, 500m or 16Gi`);
    else if (name.includes('/') && quantityToMilli(parseQuantity(String(amount))) % 1000 !== 0) {
      complain(`${field}[${name}]`, `must be a whole number, such as 8, not ${String(amount)}`);
    }
  }
  return amounts as Readonly<Record<string, string | number>>;
}

function isAmount(amount: unknown): amount is string | number {
  if (typeof amount !== 'string' && typeof amount !== 'number') return false;
  try {
    return quantityToMilli(parseQuantity(String(amount))) >= 0;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}
