import type { PodGroup } from './pod-group.ts';

/** What the value of a label, which puts a pod into a group, has at most. */
const longestLabelValue = 63;
const longestPrefix = 253;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const resourceName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Why a group can never start, whatever pods and nodes come, though the API takes it: the field, what is wrong there, and what would be
 * right. Undefined when nothing is. The schema cannot say so: it takes what scheduler-plugins' does.
 */
export function podGroupProblem({ name, minResources }: Pick<PodGroup, 'name' | 'minResources'>): string | undefined {
  if (name.length > longestLabelValue) {
    return (
      `metadata.name has ${name.length} characters, and the label that puts a pod into the group takes at most ${longestLabelValue}: ` +
      'no pod can join it; create it under a shorter name'
    );
  }
  for (const resource of minResources?.keys() ?? []) {
    if (isResourceName(resource)) continue;
    return (
      `spec.minResources has ${JSON.stringify(resource.slice(0, longestPrefix))}, which is no name of a resource, so no node has any: ` +
      'write names such as cpu, memory or nvidia.com/gpu'
    );
  }
  return undefined;
}

function isResourceName(text: string): boolean {
  const slash = text.indexOf('/');
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  const name = text.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > longestPrefix || !domain.test(prefix))) return false;
  return name.length <= longestLabelValue && resourceName.test(name);
}
