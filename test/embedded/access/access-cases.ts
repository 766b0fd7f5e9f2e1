import fc from 'fast-check';

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

interface Role {
  readonly name: string;
  /** Undefined: a ClusterRole. */
  readonly namespace: string | undefined;
  readonly rules: readonly Rule[];
}

interface Binding {
  readonly name: string;
  /** Undefined: a ClusterRoleBinding. */
  readonly namespace: string | undefined;
  readonly role: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** Who has which rights. */
export interface AccessCase {
  readonly roles: readonly Role[];
  readonly bindings: readonly Binding[];
}

/** Whether somebody may do something. */
export interface Question {
  readonly user: string;
  readonly groups: readonly string[];
  readonly about: Readonly<Record<string, string>>;
}

const namespaces = ['default', 'other'];
const namespace = fc.constantFrom(undefined, ...namespaces);
const some = (...values: string[]): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const verbs = some('get', 'list', 'create', '*');
const resourceRule: fc.Arbitrary<Rule> = fc.record(
  {
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/log', 'deployments', 'deployments/scale', '*', '*/*', 'pods/*'),
    resourceNames: some('a', 'b', '*'),
    verbs,
  },
  { requiredKeys: ['apiGroups', 'resources', 'verbs'] },
);
const pathRule: fc.Arbitrary<Rule> = fc.record({
  nonResourceURLs: some('/metrics', '/healthz/*', '/debug*', '/debug/*/x', '*'),
  verbs,
});
const roleName = fc.constantFrom('one', 'two', 'three');
const subject = fc.constantFrom(
  { kind: 'User', name: 'ann' },
  { kind: 'User', name: 'system:serviceaccount:default:robot' },
  { kind: 'Group', name: 'makers' },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'other' },
);
const placed = (each: { readonly name: string; readonly namespace: string | undefined }): string =>
  `${each.namespace}/${each.name}`;

/** Roles that bindings name need not be there. */
export const accessCases: fc.Arbitrary<AccessCase> = fc.record({
  roles: fc.uniqueArray(
    namespace.chain((place) =>
      fc.record({
        name: roleName,
        namespace: fc.constant(place),
        // What is in a namespace has no rights on paths.
        rules: fc.array(place === undefined ? fc.oneof(resourceRule, pathRule) : resourceRule, { maxLength: 3 }),
      }),
    ),
    { maxLength: 6, selector: placed },
  ),
  bindings: fc.uniqueArray(
    namespace.chain((place) =>
      fc.record({
        name: fc.constantFrom('first', 'second', 'third'),
        namespace: fc.constant(place),
        role: fc.record({
          kind: place === undefined ? fc.constant('ClusterRole') : fc.constantFrom('Role', 'ClusterRole'),
          name: roleName,
        }),
        subjects: fc.uniqueArray(subject, { maxLength: 2 }),
      }),
    ),
    { maxLength: 6, selector: placed },
  ),
});

const verb = fc.constantFrom('get', 'list', 'delete', '*');

export const questions: fc.Arbitrary<Question> = fc.record({
  user: fc.constantFrom('ann', 'ben', 'system:serviceaccount:default:robot', 'system:serviceaccount:other:robot'),
  groups: fc.uniqueArray(fc.constantFrom('makers', 'others'), { maxLength: 2 }),
  about: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record(
        {
          verb,
          group: fc.constantFrom('', 'apps', 'batch', '*'),
          resource: fc.constantFrom('pods', 'deployments', '*'),
          subresource: fc.constantFrom('log', 'scale', '*'),
          namespace: fc.constantFrom(...namespaces, ''),
          name: fc.constantFrom('a', 'c', '*', ''),
        },
        { requiredKeys: ['verb', 'group', 'resource'] },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        verb,
        path: fc.constantFrom('/metrics', '/healthz', '/healthz/etcd', '/debug/a/x', '/debugger', '*'),
      }),
    },
  ),
});
