import { forbidden } from '../../http/api-error.ts';
import type { JsonObject } from '../../json.ts';
import { ensureObject, metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import type { KindContext } from '../resource-type.ts';
import { resolvePriority } from '../resolve-priority.ts';
import { mergeLabelKeys } from './merge-label-keys.ts';

const pods = { group: '', plural: 'pods' };
const tolerationSeconds = 300;

/**
 * Admits a new pod as kube-apiserver does. Sets the priority from its class, the default tolerations and service account, and a new
 * status, and merges `matchLabelKeys` into selectors. Changes the pod in place. Throws 403.
 */
export function admitPod(pod: JsonObject, context: KindContext): void {
  admitPriority(pod, context);
  setServiceAccount(pod);
  addDefaultTolerations(pod);
  mergeLabelKeys(pod);
  pod.status = { phase: 'Pending', ...gatedConditions(pod, context) };
}

function gatedConditions(pod: JsonObject, context: KindContext): JsonObject {
  if (objectsAt(objectAt(pod, 'spec'), 'schedulingGates').length === 0) return {};
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: context.now(),
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
  return { conditions: [condition] };
}

function admitPriority(pod: JsonObject, context: KindContext): void {
  const spec = ensureObject(pod, 'spec');
  const { className, value, preemptionPolicy } = resolvePriority(pods, pod, spec, context);
  if (className !== '') spec.priorityClassName = className;
  const computed = [
    ['priority', value, 'integer value of priority'],
    ['preemptionPolicy', preemptionPolicy, 'string value of PreemptionPolicy'],
  ] as const;
  for (const [field, admitted, title] of computed) {
    const given = spec[field] ?? admitted;
    spec[field] = admitted;
    if (given === admitted) continue;
    const why = `the ${title} (${JSON.stringify(given)}) must not be provided in pod spec; priority admission controller computed ${admitted} from the given PriorityClass name`;
    throw forbidden(pods, textAt(metadataOf(pod), 'name'), why);
  }
}

/** Sets the ServiceAccount. Does not check that it exists, because the plane has no ServiceAccount tokens. */
function setServiceAccount(pod: JsonObject): void {
  const spec = ensureObject(pod, 'spec');
  spec.serviceAccountName = textAt(spec, 'serviceAccountName') || 'default';
  spec.serviceAccount = spec.serviceAccountName;
}

/** Adds the default tolerations: five minutes on a node that is not ready or unreachable, unless the pod has its own. */
export function addDefaultTolerations(pod: JsonObject): void {
  const spec = ensureObject(pod, 'spec');
  const tolerations = objectsAt(spec, 'tolerations');
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const tolerated = tolerations.some((toleration) => {
      const effect = textAt(toleration, 'effect');
      const ownKey = textAt(toleration, 'key');
      return (ownKey === key || ownKey === '') && (effect === '' || effect === 'NoExecute');
    });
    if (!tolerated) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds });
  }
  spec.tolerations = tolerations;
}
