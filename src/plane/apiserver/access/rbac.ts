import { compileLabelSelector } from '../../../api/label-selector.ts';
import type { Labels } from '../../../api/label-selector.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, objectAt, objectsAt, textAt, textsAt } from '../kinds/access.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../kinds/rbac.ts';
import type { Store } from '../store/store.ts';
import type { Attributes } from './attributes.ts';
import { serviceAccountName } from './user.ts';
import type { User } from './user.ts';

const everybody = 'system:masters';

/** Role-based access control, by the roles and bindings as they are stored at the moment. */
export class Rbac {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Why it is allowed; undefined when it is not. */
  allows(user: User, attributes: Attributes): string | undefined {
    if (user.groups.includes(everybody)) return `${user.name} is of the group ${everybody}`;
    const namespace = attributes.type === 'resource' ? attributes.namespace : undefined;
    for (const { reason, rules } of this.#grants(user, namespace)) {
      if (rules.some((rule) => ruleAllows(rule, attributes))) return reason;
    }
    return undefined;
  }

  /** All that a user may do in a namespace. */
  rulesOf(user: User, namespace: string): JsonObject[] {
    if (user.groups.includes(everybody)) {
      return [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ];
    }
    return this.#grants(user, namespace).flatMap(({ rules }) => rules);
  }

  /** The rules of the cluster's bindings, and of those of the namespace if one is given. */
  #grants(user: User, namespace: string | undefined): { reason: string; rules: JsonObject[] }[] {
    const bindings = [
      ...this.#store.collection(clusterRoleBindings.storage).list(),
      ...(namespace === undefined ? [] : this.#store.collection(roleBindings.storage).list(namespace)),
    ];
    return bindings
      .filter(({ object }) => objectsAt(object, 'subjects').some((subject) => isMeant(user, subject)))
      .map(({ object, name, namespace: place }) => {
        const reference = objectAt(object, 'roleRef');
        const kind = place === '' ? 'ClusterRoleBinding' : 'RoleBinding';
        const role = `${textAt(reference, 'kind')} ${JSON.stringify(textAt(reference, 'name'))}`;
        return {
          reason: `RBAC: allowed by ${kind} ${JSON.stringify(place === '' ? name : `${name}/${place}`)} of ${role} to ${user.name}`,
          rules: this.#roleRules(reference, place),
        };
      });
  }

  #roleRules(reference: JsonObject | undefined, namespace: string): JsonObject[] {
    const name = textAt(reference, 'name');
    if (reference?.kind === 'Role') {
      return objectsAt(this.#store.collection(roles.storage).get(namespace, name)?.object, 'rules');
    }
    const role = this.#store.collection(clusterRoles.storage).get('', name)?.object;
    const selectors = objectsAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors');
    // No controller writes the rules of a role that is made of others.
    return [...objectsAt(role, 'rules'), ...selectors.flatMap((selector) => this.#aggregated(selector))];
  }

  #aggregated(selector: JsonObject): JsonObject[] {
    const selects = compileLabelSelector(selector);
    return this.#store
      .collection(clusterRoles.storage)
      .list()
      .filter(({ object }) => selects(objectAt(metadataOf(object), 'labels') as Labels | undefined))
      .flatMap(({ object }) => objectsAt(object, 'rules'));
  }
}

function isMeant(user: User, subject: JsonObject): boolean {
  const name = textAt(subject, 'name');
  switch (subject.kind) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.name === serviceAccountName(textAt(subject, 'namespace'), name);
    default:
      return false;
  }
}

function ruleAllows(rule: JsonObject, attributes: Attributes): boolean {
  if (!holds(textsAt(rule, 'verbs'), attributes.verb)) return false;
  if (attributes.type === 'path') {
    return textsAt(rule, 'nonResourceURLs').some(
      (url) => url === attributes.path || (url.endsWith('*') && attributes.path.startsWith(url.slice(0, -1))),
    );
  }
  const { group, resource, name } = attributes;
  const [, subresource] = resource.split('/');
  const resources = textsAt(rule, 'resources');
  const names = textsAt(rule, 'resourceNames');
  return (
    holds(textsAt(rule, 'apiGroups'), group) &&
    (holds(resources, resource) || (subresource !== undefined && resources.includes(`*/${subresource}`))) &&
    (names.length === 0 || names.includes(name))
  );
}

function holds(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}
