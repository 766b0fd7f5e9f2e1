import { forbidden } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt, valueAt } from '../access.ts';
import { builtIn } from '../built-in.ts';
import { fieldColumn, textColumn } from '../column.ts';
import { resolvePriority } from '../resolve-priority.ts';
import type { KindContext, ResourceType } from '../resource-type.ts';
import { notSupported } from '../../schema/field-error.ts';
import { validateAlphaUpdate, validateBeta, validateBetaUpdate, validatePodGroup } from './validate-pod-group.ts';

/**
 * What serves the gangs of Kubernetes itself, `scheduling.k8s.io`. v1beta1 as Kubernetes 1.37 with the feature gate GenericWorkload; v1alpha2
 * as 1.36; v1alpha1 as 1.35, which has Workloads and no PodGroups; none as a server without these API versions. Pods keep their
 * `schedulingGroup` in any case.
 */
export type NativeGangs = 'v1beta1' | 'v1alpha2' | 'v1alpha1' | 'none';

const group = 'scheduling.k8s.io';
const resource = { group, plural: 'podgroups' };

/** Spec fields whose feature gates are off by default. The server drops them, as kube-apiserver does. */
const gatedFields = ['parentCompositePodGroupName', 'schedulingConstraints', 'resourceClaims', 'preemptionPolicy'];

const stored = { group, hasStatus: true } as const;

/**
 * Returns the resources of a version. Each version has a collection of its own, because Kubernetes does not convert alpha objects.
 * `hasAlphaFields` opens the feature gates of all fields of a PodGroup.
 */
export function nativeGangTypes(version: NativeGangs, hasAlphaFields: boolean): readonly ResourceType[] {
  switch (version) {
    case 'v1beta1':
      return [betaPodGroups(hasAlphaFields)];
    case 'v1alpha2':
      return [alphaPodGroups(hasAlphaFields)];
    case 'v1alpha1':
      return [builtIn({ group, version, kind: 'Workload', model: 'V1alpha1Workload', required: ['spec.podGroups'] })];
    case 'none':
      return [];
  }
}

function betaPodGroups(hasAlphaFields: boolean): ResourceType {
  return builtIn({
    ...stored,
    version: 'v1beta1',
    kind: 'PodGroup',
    model: 'V1beta1PodGroup',
    columns: columns('spec.workloadRef.workloadName', 'PodGroupInitiallyScheduled'),
    behavior: {
      updateNeedsVersion: true,
      applyDefaults: (podGroup) => {
        const spec = ensureObject(podGroup, 'spec');
        applyDefaults(podGroup, hasAlphaFields);
        spec.disruptionMode ??= { single: {} };
        if (hasAlphaFields) spec.preemptionPolicy ??= 'PreemptLowerPriority';
      },
      admitCreate: (podGroup, context) => admitPriority(podGroup, hasAlphaFields, context),
      validate: (podGroup) => [...validatePodGroup(podGroup), ...validateBeta(podGroup)],
      validateUpdate: validateBetaUpdate,
    },
  });
}

function alphaPodGroups(hasAlphaFields: boolean): ResourceType {
  const modes = ['Pod', 'PodGroup'];
  return builtIn({
    ...stored,
    version: 'v1alpha2',
    kind: 'PodGroup',
    model: 'V1alpha2PodGroup',
    storage: `podgroups.v1alpha2.${group}`,
    columns: columns('spec.podGroupTemplateRef.workload.workloadName', 'PodGroupScheduled'),
    behavior: {
      updateNeedsVersion: true,
      applyDefaults: (podGroup) => {
        const spec = ensureObject(podGroup, 'spec');
        applyDefaults(podGroup, hasAlphaFields);
        spec.disruptionMode ??= 'Pod';
      },
      admitCreate: (podGroup, context) => admitPriority(podGroup, false, context),
      validate: (podGroup) => {
        const mode = textAt(objectAt(podGroup, 'spec'), 'disruptionMode');
        const causes = validatePodGroup(podGroup);
        return modes.includes(mode) ? causes : [...causes, notSupported('spec.disruptionMode', mode, modes)];
      },
      validateUpdate: validateAlphaUpdate,
    },
  });
}

function applyDefaults(podGroup: JsonObject, hasAlphaFields: boolean): void {
  const spec = ensureObject(podGroup, 'spec');
  const status = ensureObject(podGroup, 'status');
  // The API always writes a condition's message, empty if unset.
  for (const condition of objectsAt(status, 'conditions')) condition.message ??= '';
  if (hasAlphaFields) return;
  for (const field of gatedFields) delete spec[field];
  delete status.resourceClaimStatuses;
}

function admitPriority(podGroup: JsonObject, hasPreemptionPolicy: boolean, context: KindContext): void {
  const spec = ensureObject(podGroup, 'spec');
  const reject = (why: string): Error => forbidden(resource, textAt(metadataOf(podGroup), 'name'), why);
  const { className, value, preemptionPolicy } = resolvePriority(resource, podGroup, spec, context);
  const given = spec.priority ?? value;
  if (given !== value) {
    const why = `priority set in the pod group (${JSON.stringify(given)}) must match the priority computed (${value}) based on the priority class set in the spec`;
    throw reject(why);
  }
  spec.priority = value;
  if (className !== '') spec.priorityClassName = className;
  if (!hasPreemptionPolicy) return;
  if (spec.preemptionPolicy !== preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${textAt(spec, 'preemptionPolicy')}) must not be provided in pod group spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
    throw reject(why);
  }
}

function columns(workloadPath: string, scheduledType: string): readonly ReturnType<typeof textColumn>[] {
  return [
    textColumn('Policy', (podGroup) =>
      valueAt(podGroup, 'spec.schedulingPolicy.gang') === undefined ? 'Basic' : 'Gang',
    ),
    fieldColumn('Workload', workloadPath, '<none>'),
    textColumn('Status', (podGroup) => {
      const conditions = objectsAt(objectAt(podGroup, 'status'), 'conditions');
      const find = (type: string): JsonObject | undefined => conditions.find((each) => each.type === type);
      const disrupted = find('DisruptionTarget');
      if (disrupted !== undefined) return textAt(disrupted, 'reason');
      const scheduled = find(scheduledType);
      if (scheduled === undefined) return 'Pending';
      return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
    }),
  ];
}
