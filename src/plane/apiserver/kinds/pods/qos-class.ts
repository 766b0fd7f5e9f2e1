import { compareQuantities, parseQuantity, zeroQuantity } from '../../../../api/quantity.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt, objectsAt } from '../access.ts';

const computeResources = ['cpu', 'memory'];

/** Returns the quality of service (QoS) class of a pod. Counts invalid quantities as unset. */
export function qosClass(pod: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const spec = objectAt(pod, 'spec');
  const podResources = objectAt(spec, 'resources');
  const all =
    podResources === undefined
      ? [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map((each) =>
          objectAt(each, 'resources'),
        )
      : [podResources];
  let any = false;
  let guaranteed = true;
  for (const resources of all) {
    const requests = objectAt(resources, 'requests');
    const limits = objectAt(resources, 'limits');
    for (const resource of computeResources) {
      const request = requests?.[resource];
      const limit = limits?.[resource];
      if (isPositive(request) || isPositive(limit)) any = true;
      if (!isPositive(limit)) guaranteed = false;
      else if (isPositive(request) && compareQuantities(parseQuantity(request), parseQuantity(limit)) !== 0) {
        guaranteed = false;
      }
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function isPositive(value: JsonValue | undefined): boolean {
  if (value === undefined) return false;
  try {
    return compareQuantities(parseQuantity(value), zeroQuantity) > 0;
  } catch {
    return false;
  }
}
