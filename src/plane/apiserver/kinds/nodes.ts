import { append } from '../append.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { builtIn } from './built-in.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt } from './access.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import { fillConditionTimes } from './condition-times.ts';
import { duplicateValue, notSupported, qualifiedNameCauses, required } from './field-rules.ts';
import { canonicalizeQuantities, validateQuantities } from './quantity-fields.ts';
import { statusSubresource } from './resource-type.ts';
import type { ResourceType } from './resource-type.ts';

/** Its fields are always there. */
const emptyNodeInfo: JsonObject = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: '',
  architecture: '',
};
const rolePrefix = 'node-role.kubernetes.io/';

export const nodes: ResourceType = builtIn({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  model: 'V1Node',
  subresources: [statusSubresource({ group: '', version: 'v1', kind: 'Node' })],
  columns: [
    nameColumn,
    textColumn('Status', nodeStatus),
    textColumn('Roles', nodeRoles),
    ageColumn,
    textColumn('Version', (node) => nodeInfo(node, 'kubeletVersion')),
    textColumn('Internal-IP', (node) => address(node, 'InternalIP'), 'wide'),
    textColumn('External-IP', (node) => address(node, 'ExternalIP'), 'wide'),
    textColumn('OS-Image', (node) => nodeInfo(node, 'osImage') || '<unknown>', 'wide'),
    textColumn('Kernel-Version', (node) => nodeInfo(node, 'kernelVersion') || '<unknown>', 'wide'),
    textColumn('Container-Runtime', (node) => nodeInfo(node, 'containerRuntimeVersion') || '<unknown>', 'wide'),
  ],
  selectableFields: {
    'spec.unschedulable': (node) => String(objectAt(node, 'spec')?.unschedulable === true),
  },
  behaviour: {
    createKeepsStatus: true,
    statusKeepsMetadata: true,
    applyDefaults: (node) => {
      ensureObject(node, 'spec');
      const status = ensureObject(node, 'status');
      fillConditionTimes(status, ['lastHeartbeatTime', 'lastTransitionTime']);
      status.daemonEndpoints ??= { kubeletEndpoint: { Port: 0 } };
      status.nodeInfo = { ...emptyNodeInfo, ...objectAt(status, 'nodeInfo') };
      canonicalizeQuantities(status, 'capacity');
      canonicalizeQuantities(status, 'allocatable');
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
    // The server says metadata, though taints are in the spec.
    const path = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    append(causes, qualifiedNameCauses(`${path}.key`, key));
    if (effect === '') causes.push(required(`${path}.effect`));
    else if (!effects.includes(effect)) causes.push(notSupported(`${path}.effect`, effect, effects));
    if (seen.has(`${key}:${effect}`)) {
      const same = duplicateValue(path, { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null });
      causes.push({ ...same, message: `${same.message}: taints must be unique by key and effect pair` });
    }
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

function nodeInfo(node: JsonObject, field: string): string {
  return textAt(objectAt(objectAt(node, 'status'), 'nodeInfo'), field);
}

function address(node: JsonObject, type: string): string {
  const found = objectsAt(objectAt(node, 'status'), 'addresses').find((each) => each.type === type);
  return textAt(found, 'address') || '<none>';
}
