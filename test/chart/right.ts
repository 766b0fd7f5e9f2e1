import type { AuditedCall } from '../planes/real/api-audit.ts';
import type { ChartObject } from './rendered-chart.ts';

/** One verb on one resource, or path, that a role of the chart grants. */
export interface Right {
  /** Name of the role without the prefix of the release: `scheduler`, `scheduler-lease`. */
  readonly role: string;
  readonly verb: string;
  readonly group: string;
  /** `pods/binding`; or the path. */
  readonly resource: string;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface RoleObject extends ChartObject {
  readonly rules: readonly Rule[];
}

export function isRole(object: ChartObject): object is RoleObject {
  return object.kind === 'ClusterRole' || object.kind === 'Role';
}

export function roleNameOf({ metadata }: ChartObject): string {
  return metadata.name.split(':').at(-1)!;
}

/** Returns all permissions of the role, without duplicates. */
export function rightsOf(role: RoleObject): readonly Right[] {
  return role.rules.flatMap(({ apiGroups = [''], resources = [], nonResourceURLs = [], verbs }) =>
    [...resources, ...nonResourceURLs].flatMap((resource) =>
      apiGroups.flatMap((group) => verbs.map((verb) => ({ role: roleNameOf(role), verb, group, resource }))),
    ),
  );
}

/** Returns the role without the permission; other permissions of the same rule stay. */
export function without(role: RoleObject, right: Right): RoleObject {
  const rules = role.rules.flatMap((rule) => {
    const { apiGroups = [''], resources = [], nonResourceURLs = [], verbs } = rule;
    const things = [...resources, ...nonResourceURLs];
    if (!apiGroups.includes(right.group) || !things.includes(right.resource)) return [rule];
    if (apiGroups.length > 1) throw new Error(`a rule of ${right.role} has several groups`);
    const others = (names: readonly string[]): readonly string[] => names.filter((name) => name !== right.resource);
    const rest = { ...rule, verbs: verbs.filter((verb) => verb !== right.verb) };
    const beside =
      nonResourceURLs.length > 0
        ? { ...rule, nonResourceURLs: others(nonResourceURLs) }
        : { ...rule, resources: others(resources) };
    return [
      ...(rest.verbs.length > 0 ? [{ ...rest, ...only(rule, right) }] : []),
      ...(things.length > 1 ? [beside] : []),
    ];
  });
  return { ...role, rules };
}

function only({ nonResourceURLs }: Rule, { resource }: Right): Partial<Rule> {
  return nonResourceURLs === undefined ? { resources: [resource] } : { nonResourceURLs: [resource] };
}

/** Returns a name such as `create pods/binding` or `list podgroups.scheduling.x-k8s.io`. */
export function nameOf({ verb, group, resource }: Pick<Right, 'verb' | 'group' | 'resource'>): string {
  if (group === '') return `${verb} ${resource}`;
  const [kind, subresource] = resource.split('/');
  return `${verb} ${kind}.${group}${subresource === undefined ? '' : `/${subresource}`}`;
}

/**
 * Returns the calls that the API server rejected for missing permissions, as `ACCOUNT: create pods/binding`; without duplicates, sorted.
 */
export function rejectedIn(calls: readonly AuditedCall[]): readonly string[] {
  const rejected = calls.filter(({ code }) => code === 403);
  return [...new Set(rejected.map((call) => `${call.user.split(':').at(-1)}: ${nameOf(call)}`))].sort();
}
