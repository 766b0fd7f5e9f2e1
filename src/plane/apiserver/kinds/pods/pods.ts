import type { JsonObject } from '../../json.ts';
import type { IndexFunctions } from '../../store/collection.ts';
import { objectAt, textAt, valueAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import type { ResourceType } from '../resource-type.ts';
import { addDefaultTolerations, admitPod } from './admit-pod.ts';
import { applyPodDefaults } from './default-pod.ts';
import { lastPodColumns, podColumns } from './pod-columns.ts';
import { podGracePeriod } from './pod-grace.ts';
import { validatePod } from './validate-pod.ts';
import { validatePodUpdate } from './validate-pod-update.ts';

const selectablePaths = [
  ...['spec.nodeName', 'spec.schedulerName', 'spec.restartPolicy', 'spec.serviceAccountName'],
  ...['status.phase', 'status.podIP', 'status.nominatedNodeName'],
];

/** Restores the fields that admission set, for clients that replace the pod with its manifest. */
function restoreAdmittedFields(pod: JsonObject, previous: JsonObject): void {
  const spec = objectAt(pod, 'spec');
  const old = objectAt(previous, 'spec');
  if (spec === undefined || old === undefined) return;
  for (const field of ['priority', 'priorityClassName', 'preemptionPolicy', 'serviceAccountName', 'serviceAccount']) {
    const value = old[field];
    if (value !== undefined) spec[field] ??= value;
  }
  addDefaultTolerations(pod);
}

/** The index for lists by `spec.nodeName`. */
export const podIndexes: IndexFunctions = {
  'spec.nodeName': (pod: JsonObject) => textAt(objectAt(pod, 'spec'), 'nodeName'),
};

export const pods: ResourceType = builtIn({
  kind: 'Pod',
  shortNames: ['po'],
  categories: ['all'],
  hasStatus: true,
  subresources: [
    { name: 'binding', kind: 'Binding', group: '', version: 'v1', verbs: ['create'] },
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
  ],
  columns: podColumns,
  lastColumns: lastPodColumns,
  selectableFields: Object.fromEntries(
    selectablePaths.map((path) => [path, (pod: JsonObject) => (valueAt(pod, path) as string | undefined) ?? '']),
  ),
  behavior: {
    generation: 'spec',
    returnsDeleted: true,
    statusKeepsMetadata: true,
    applyDefaults: applyPodDefaults,
    admitCreate: admitPod,
    validate: validatePod,
    validateUpdate: validatePodUpdate,
    prepareUpdate: restoreAdmittedFields,
    gracePeriod: podGracePeriod,
  },
});
