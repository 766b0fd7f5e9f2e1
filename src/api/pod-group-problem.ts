import type { PodGroup } from './pod-group.ts';
import { formatQuantity } from './quantity.ts';

/** Kubernetes' limit for label values. A label puts a pod into a group. */
const maxLabelValueLength = 63;
const maxPrefixLength = 253;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const resourceName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Returns why a valid group can never start, whatever pods and nodes exist: the field, the problem and the remedy. Returns undefined if it
 * can start. The CRD schema does not reject such groups: it accepts all names that the schema of scheduler-plugins accepts.
 */
export function podGroupProblem({ name, minResources }: Pick<PodGroup, 'name' | 'minResources'>): string | undefined {
  if (name.length > maxLabelValueLength) {
    return (
      `metadata.name has ${name.length} characters, but the label that puts a pod into the group has at most ${maxLabelValueLength}: ` +
      'no pod can join the group; create it with a shorter name'
    );
  }
  for (const resource of minResources?.keys() ?? []) {
    if (isResourceName(resource)) continue;
    return (
      `spec.minResources has ${JSON.stringify(resource)}, which is not a valid resource name, so no node has this resource: ` +
      'use names such as cpu, memory or nvidia.com/gpu'
    );
  }
  return undefined;
}

/**
 * Returns which negative fields of the group have no effect, and the remedy. Returns undefined if there are none. The CRD schema rejects such
 * fields, but a group can be older than the schema, or the CRD can be that of scheduler-plugins.
 */
export function ignoredFields({
  scheduleTimeoutSeconds = 0,
  minResources,
}: Pick<PodGroup, 'scheduleTimeoutSeconds' | 'minResources'>): string | undefined {
  const ignored = scheduleTimeoutSeconds < 0 ? [`spec.scheduleTimeoutSeconds is ${scheduleTimeoutSeconds}`] : [];
  for (const [resource, amount] of minResources ?? []) {
    if (amount.unscaled < 0)
      ignored.push(`spec.minResources requests ${formatQuantity(amount)} ${JSON.stringify(resource)}`);
  }
  if (ignored.length === 0) return undefined;
  return `${ignored.join(', ')}: a negative value has no effect; set at least 0, or remove the field`;
}

function isResourceName(text: string): boolean {
  const slash = text.indexOf('/');
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  const name = text.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > maxPrefixLength || !domain.test(prefix))) return false;
  return name.length <= maxLabelValueLength && resourceName.test(name);
}
