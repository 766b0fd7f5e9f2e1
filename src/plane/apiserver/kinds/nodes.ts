import { append } from '../append.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt } from './access.ts';
import { fieldColumn, textColumn } from './column.ts';
import { qualifiedNameCauses } from './field-rules.ts';
import { duplicateValue, notSupported, required } from '../schema/field-error.ts';
import { validateQuantities } from './quantity-fields.ts';
import type { ResourceType } from './resource-type.ts';

const rolePrefix = 'node-role.kubernetes.io/';

export const nodes: ResourceType = builtIn({
  kind: 'Node',
  shortNames: ['no'],
  namespaced: false,
  hasStatus: true,
  columns: [textColumn('Status', nodeStatus), textColumn('Roles', nodeRoles)],
  lastColumns: [
    fieldColumn('Version', 'status.nodeInfo.kubeletVersion'),
    textColumn('Internal-IP', internalAddress, 'wide'),
  ],
  defaults: { spec: {}, status: {} },
  selectableFields: {
    'spec.unschedulable': (node) => String(objectAt(node, 'spec')?.unschedulable === true),
  },
  behavior: {
    createKeepsStatus: true,
    statusKeepsMetadata: true,
    applyDefaults: (node) => {
      const status = ensureObject(node, 'status');
      const capacity = objectAt(status, 'capacity');
      if (capacity !== undefined && status.allocatable === undefined) status.allocatable = { ...capacity };
    },
    validate: validateNode,
  },
});

function validateNode(node: JsonObject): StatusCause[] {
  const status = objectAt(node, 'status');
  const causes = [
    ...validateQuantities(status, 'capacity', 'status'),
    ...validateQuantities(status, 'allocatable', 'status'),
  ];
  const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
  const seen = new Set<string>();
  objectsAt(objectAt(node, 'spec'), 'taints').forEach((taint, index) => {
    // kube-apiserver reports this path, although taints are in the spec.
    const path = `metadata.taints[${index}]`;
    const [key, effect] = [textAt(taint, 'key'), textAt(taint, 'effect')];
    append(causes, qualifiedNameCauses(`${path}.key`, key));
    if (effect === '') causes.push(required(`${path}.effect`));
    else if (!effects.includes(effect)) causes.push(notSupported(`${path}.effect`, effect, effects));
    if (seen.has(`${key}:${effect}`)) causes.push(duplicateValue(path, `${key}:${effect}`));
    seen.add(`${key}:${effect}`);
  });
  return causes;
}

function nodeStatus(node: JsonObject): string {
  const ready = objectsAt(objectAt(node, 'status'), 'conditions').find((condition) => condition.type === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (objectAt(node, 'spec')?.unschedulable === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function nodeRoles(node: JsonObject): string {
  const roles: string[] = [];
  for (const [key, value] of Object.entries(objectAt(metadataOf(node), 'labels') ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) roles.push(key.slice(rolePrefix.length));
    else if (key === 'kubernetes.io/role' && typeof value === 'string' && value !== '') roles.push(value);
  }
  return roles.length === 0 ? '<none>' : roles.sort().join(',');
}

function internalAddress(node: JsonObject): string {
  const found = objectsAt(objectAt(node, 'status'), 'addresses').find(({ type }) => type === 'InternalIP');
  return textAt(found, 'address') || '<none>';
}
