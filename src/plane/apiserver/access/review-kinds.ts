import { badRequest, invalid } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectAt, textAt, textsAt } from '../kinds/access.ts';
import { fieldForbidden, invalidValue, required } from '../kinds/field-rules.ts';
import type { Attributes } from './attributes.ts';
import type { Rbac } from './rbac.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import { userInfo } from './user.ts';
import type { User } from './user.ts';

/** What a review is answered from. */
export interface Reviewer {
  /** Who asks. */
  readonly user: User;
  /** Of the path, for the review that has one there. */
  readonly namespace: string | undefined;
  readonly rbac: Rbac;
  readonly tokens: ServiceAccountTokens;
}

/** A kind that is answered when created and never stored. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The status that answers it. Throws 400 or 422. */
  readonly answer: (spec: JsonObject, reviewer: Reviewer) => JsonObject;
}

const authentication = { group: 'authentication.k8s.io', version: 'v1', namespaced: false };
const authorization = { group: 'authorization.k8s.io', version: 'v1', namespaced: false };

export const reviewKinds: readonly ReviewKind[] = [
  {
    ...authentication,
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    answer: (_spec, { user }) => ({ userInfo: userInfo(user) }),
  },
  { ...authentication, kind: 'TokenReview', plural: 'tokenreviews', answer: reviewToken },
  {
    ...authorization,
    namespaced: true,
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    answer: (spec: JsonObject, reviewer: Reviewer): JsonObject => {
      const namespace = textAt(objectAt(spec, 'resourceAttributes'), 'namespace');
      if (namespace !== reviewer.namespace) {
        throw invalid('LocalSubjectAccessReview', authorization.group, '', [
          invalidValue('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'),
        ]);
      }
      return reviewAccess(namedUser('LocalSubjectAccessReview', spec), spec, reviewer, 'LocalSubjectAccessReview');
    },
  },
  {
    ...authorization,
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    answer: (spec, reviewer) => reviewAccess(reviewer.user, spec, reviewer, 'SelfSubjectAccessReview'),
  },
  {
    ...authorization,
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    answer: (spec: JsonObject, { user, rbac }: Reviewer): JsonObject => {
      const namespace = textAt(spec, 'namespace');
      if (namespace === '') throw badRequest('no namespace on request');
      const rules = rbac.rulesOf(user, namespace);
      return {
        resourceRules: rules.filter((rule) => rule.nonResourceURLs === undefined),
        nonResourceRules: rules.filter((rule) => rule.nonResourceURLs !== undefined),
        incomplete: false,
      };
    },
  },
  {
    ...authorization,
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    answer: (spec, reviewer) =>
      reviewAccess(namedUser('SubjectAccessReview', spec), spec, reviewer, 'SubjectAccessReview'),
  },
];

export function findReviewKind(group: string, version: string, plural: string): ReviewKind | undefined {
  return reviewKinds.find((kind) => kind.group === group && kind.version === version && kind.plural === plural);
}

function reviewToken(spec: JsonObject, { tokens }: Reviewer): JsonObject {
  const token = textAt(spec, 'token');
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const audiences = textsAt(spec, 'audiences');
  const verified = tokens.verify(token, audiences.length === 0 ? undefined : audiences);
  if (typeof verified === 'string') return { user: {}, error: verified };
  return { authenticated: true, user: userInfo(verified.user), audiences: [...verified.audiences] };
}

function namedUser(kind: string, spec: JsonObject): User {
  const [name, groups] = [textAt(spec, 'user'), textsAt(spec, 'groups')];
  if (name === '' && groups.length === 0) {
    throw invalid(kind, authorization.group, '', [
      invalidValue('spec.user', '', 'at least one of user or group must be specified'),
    ]);
  }
  return { name, uid: textAt(spec, 'uid'), groups, extra: {} };
}

function reviewAccess(user: User, spec: JsonObject, { rbac }: Reviewer, kind: string): JsonObject {
  const reason = rbac.allows(user, reviewedAttributes(spec, kind));
  return reason === undefined ? { allowed: false } : { allowed: true, reason };
}

function reviewedAttributes(spec: JsonObject, kind: string): Attributes {
  const resource = objectAt(spec, 'resourceAttributes');
  const path = objectAt(spec, 'nonResourceAttributes');
  if (resource !== undefined && path !== undefined) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    throw invalid(kind, authorization.group, '', [fieldForbidden('spec.nonResourceAttributes', detail)]);
  }
  if (path !== undefined) return { type: 'path', verb: textAt(path, 'verb'), path: textAt(path, 'path') };
  if (resource === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalid(kind, authorization.group, '', [required('spec.resourceAttributes', detail)]);
  }
  const subresource = textAt(resource, 'subresource');
  return {
    type: 'resource',
    verb: textAt(resource, 'verb'),
    group: textAt(resource, 'group'),
    resource: subresource === '' ? textAt(resource, 'resource') : `${textAt(resource, 'resource')}/${subresource}`,
    namespace: textAt(resource, 'namespace') || undefined,
    name: textAt(resource, 'name'),
  };
}
