import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { builtIn } from './built-in.ts';
import { ageColumn, nameColumn, textColumn } from './column.ts';
import type { Column } from './column.ts';
import { deepEqual } from '../deep-equal.ts';
import { dnsSubdomainProblem, invalidValue, notSupported, required } from './field-rules.ts';
import type { ResourceType } from './resource-type.ts';
import { validateSelector } from './validate-selector.ts';

const group = 'rbac.authorization.k8s.io';

/** Their creation time is shown as it is, not as an age. */
const createdAtColumn: Column = {
  ...textColumn('Created At', (role) => textAt(objectAt(role, 'metadata'), 'creationTimestamp')),
};

export const roles: ResourceType = role('Role', true);
export const clusterRoles: ResourceType = role('ClusterRole', false);
export const roleBindings: ResourceType = binding('RoleBinding', true);
export const clusterRoleBindings: ResourceType = binding('ClusterRoleBinding', false);

type OwnParts = Pick<ResourceType, 'kind' | 'namespaced' | 'columns' | 'behaviour'>;

function rbacKind({ kind, behaviour, ...own }: OwnParts): ResourceType {
  return builtIn({
    group,
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    model: `V1${kind}`,
    behaviour: { nameRule: 'pathSegment', ...behaviour },
    ...own,
  });
}

function role(kind: string, namespaced: boolean): ResourceType {
  return rbacKind({
    kind,
    namespaced,
    columns: [nameColumn, createdAtColumn],
    behaviour: {
      applyDefaults: (object) => void (object.rules ??= null),
      admitCreate: forgetEmptyRules,
      prepareUpdate: forgetEmptyRules,
      validate: (object) => [
        ...objectsAt(object, 'rules').flatMap((rule, index) => validateRule(rule, `rules[${index}]`, namespaced)),
        ...objectsAt(objectAt(object, 'aggregationRule'), 'clusterRoleSelectors').flatMap((selector, index) =>
          validateSelector(selector, `aggregationRule.clusterRoleSelectors[${index}]`),
        ),
      ],
    },
  });
}

/** An empty list belongs to whoever gave it, and is not stored: the field is null without rules. */
function forgetEmptyRules(object: JsonObject): void {
  if (objectsAt(object, 'rules').length === 0) object.rules = null;
}

function validateRule(rule: JsonObject, path: string, namespaced: boolean): StatusCause[] {
  const causes: StatusCause[] = [];
  const urls = textsAt(rule, 'nonResourceURLs');
  const [groups, resources] = [textsAt(rule, 'apiGroups'), textsAt(rule, 'resources')];
  if (textsAt(rule, 'verbs').length === 0) causes.push(required(`${path}.verbs`));
  if (urls.length > 0) {
    const list = rule.nonResourceURLs!;
    if (namespaced) {
      causes.push(invalidValue(`${path}.nonResourceURLs`, list, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (groups.length > 0 || resources.length > 0 || textsAt(rule, 'resourceNames').length > 0) {
      const both = 'rules cannot apply to both regular resources and non-resource URLs';
      causes.push(invalidValue(`${path}.nonResourceURLs`, list, both));
    }
    return causes;
  }
  if (groups.length === 0) {
    causes.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (resources.length === 0) {
    causes.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  }
  return causes;
}

function binding(kind: string, namespaced: boolean): ResourceType {
  return rbacKind({
    kind,
    namespaced,
    columns: [
      nameColumn,
      textColumn('Role', (object) => {
        const reference = objectAt(object, 'roleRef');
        return `${textAt(reference, 'kind')}/${textAt(reference, 'name')}`;
      }),
      ageColumn,
      textColumn('Users', (object) => subjectsText(object, 'User'), 'wide'),
      textColumn('Groups', (object) => subjectsText(object, 'Group'), 'wide'),
      textColumn('ServiceAccounts', (object) => subjectsText(object, 'ServiceAccount'), 'wide'),
    ],
    behaviour: {
      applyDefaults: (object) => {
        const reference = objectAt(object, 'roleRef');
        if (reference !== undefined && textAt(reference, 'apiGroup') === '') reference.apiGroup = group;
        for (const subject of objectsAt(object, 'subjects')) {
          if (subject.kind !== 'ServiceAccount' && textAt(subject, 'apiGroup') === '') subject.apiGroup = group;
        }
      },
      validate: (object) => validateBinding(object, namespaced),
      validateUpdate: (object, previous) =>
        deepEqual(object.roleRef, previous.roleRef)
          ? []
          : [invalidValue('roleRef', goReference(object), 'field is immutable')],
    },
  });
}

/** The reference as kube-apiserver prints it. */
function goReference(object: JsonObject): JsonObject {
  const reference = objectAt(object, 'roleRef');
  return {
    APIGroup: textAt(reference, 'apiGroup'),
    Kind: textAt(reference, 'kind'),
    Name: textAt(reference, 'name'),
  };
}

function validateBinding(object: JsonObject, namespaced: boolean): StatusCause[] {
  const causes: StatusCause[] = [];
  const reference = objectAt(object, 'roleRef');
  if (reference?.apiGroup !== group) causes.push(notSupported('roleRef.apiGroup', reference?.apiGroup ?? '', [group]));
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const kind = textAt(reference, 'kind');
  if (!kinds.includes(kind)) causes.push(notSupported('roleRef.kind', kind, kinds));
  if (textAt(reference, 'name') === '') causes.push(required('roleRef.name'));
  objectsAt(object, 'subjects').forEach((subject, index) => {
    const path = `subjects[${index}]`;
    const name = textAt(subject, 'name');
    if (name === '') causes.push(required(`${path}.name`));
    switch (subject.kind) {
      case 'ServiceAccount': {
        const problem = name === '' ? undefined : dnsSubdomainProblem(name);
        if (problem !== undefined) causes.push(invalidValue(`${path}.name`, name, problem));
        if (textAt(subject, 'apiGroup') !== '') causes.push(notSupported(`${path}.apiGroup`, subject.apiGroup!, ['']));
        if (!namespaced && textAt(subject, 'namespace') === '') causes.push(required(`${path}.namespace`));
        break;
      }
      case 'User':
      case 'Group':
        if (subject.apiGroup !== group) causes.push(notSupported(`${path}.apiGroup`, subject.apiGroup ?? '', [group]));
        break;
      default:
        causes.push(notSupported(`${path}.kind`, subject.kind ?? '', ['ServiceAccount', 'User', 'Group']));
    }
  });
  return causes;
}

function subjectsText(object: JsonObject, kind: string): string {
  return objectsAt(object, 'subjects')
    .filter((subject) => subject.kind === kind)
    .map((subject) => (kind === 'ServiceAccount' ? `${textAt(subject, 'namespace')}/` : '') + textAt(subject, 'name'))
    .join(', ');
}
