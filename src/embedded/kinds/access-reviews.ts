import type { JsonObject } from '../json.ts';

/** A kind that is answered when created and never stored. */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** The status that answers it. */
  readonly status: JsonObject;
}

const everything = { allowed: true, reason: 'authorization disabled' };

/** This server lets everybody do everything, whoever they say they are, and says so. */
export const reviewKinds: readonly ReviewKind[] = [
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    status: everything,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    status: everything,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenReview',
    plural: 'tokenreviews',
    status: { authenticated: true, user: { username: 'system:anonymous', groups: ['system:unauthenticated'] } },
  },
];

export function findReviewKind(group: string, version: string, plural: string): ReviewKind | undefined {
  return reviewKinds.find((kind) => kind.group === group && kind.version === version && kind.plural === plural);
}
