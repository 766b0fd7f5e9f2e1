import type { JsonObject } from '../json.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;
const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

/** Those of the roles of every cluster that others build on: name -> rules, and the group that has them. */
const defaults: readonly { readonly name: string; readonly rules: JsonObject[]; readonly subject?: string }[] = [
  {
    name: 'cluster-admin',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
    subject: 'system:masters',
  },
  {
    name: 'system:basic-user',
    rules: [
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        verbs: ['create'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
    ],
    subject: 'system:authenticated',
  },
  {
    name: 'system:discovery',
    rules: [
      {
        nonResourceURLs: [
          '/api',
          '/api/*',
          '/apis',
          '/apis/*',
          '/healthz',
          '/livez',
          '/openapi',
          '/openapi/*',
          '/readyz',
          '/version',
          '/version/',
        ],
        verbs: ['get'],
      },
    ],
    subject: 'system:authenticated',
  },
  {
    name: 'system:auth-delegator',
    rules: [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ],
  },
];

/** The cluster roles and bindings that there are from the start. */
export function builtInRoles(): { readonly roles: JsonObject[]; readonly bindings: JsonObject[] } {
  return {
    roles: defaults.map(({ name, rules }) => ({ apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules })),
    bindings: defaults.flatMap(({ name, subject }) =>
      subject === undefined
        ? []
        : [
            {
              apiVersion,
              kind: 'ClusterRoleBinding',
              metadata: { name, labels },
              roleRef: { apiGroup: group, kind: 'ClusterRole', name },
              subjects: [{ apiGroup: group, kind: 'Group', name: subject }],
            },
          ],
    ),
  };
}

/** In kube-system: lets others read how the API server tells who somebody is. */
export function authenticationReader(): JsonObject {
  const rule = {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: ['extension-apiserver-authentication'],
    verbs: ['get', 'list', 'watch'],
  };
  return {
    apiVersion,
    kind: 'Role',
    metadata: { name: 'extension-apiserver-authentication-reader', labels },
    rules: [rule],
  };
}
