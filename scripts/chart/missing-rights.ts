/** How it shows that a right of Tutti's is missing. */
export interface MissingRight {
  /** The message of the log line. Absent: nothing is logged. */
  readonly log?: string;
  /** What does not work then. */
  readonly effect: string;
}

const notListed = {
  log: 'list failed; will retry',
  effect: 'the process is never ready, and does nothing',
};
const notWatched = { log: 'watch failed; will retry', effect: 'nothing that changes is seen' };
const notBound = 'could not bind';
const notEvicted = { log: 'could not evict a pod', effect: 'nobody makes room' };
const notWritten = 'cannot write Events: missing RBAC permission';
const notAsked = {
  log: 'cannot authenticate or authorize requests; rejecting them until the API server responds',
  effect: '/metrics, /configz and /debug are answered 503, health is not',
};
const notTaken = { log: 'cannot read or acquire the Lease', effect: 'nobody leads: nothing is written' };

/** `VERB RESOURCE.GROUP/SUBRESOURCE` -> how it shows that it is missing; for each right of the two ServiceAccounts. */
export const missingRights: Readonly<Record<string, MissingRight>> = {
  'list podgroups.scheduling.x-k8s.io': notListed,
  'watch podgroups.scheduling.x-k8s.io': notWatched,
  'list nodes': notListed,
  'watch nodes': notWatched,
  'list pods': notListed,
  'watch pods': notWatched,
  'list namespaces': notListed,
  'watch namespaces': notWatched,
  'list services': notListed,
  'watch services': notWatched,
  'list replicationcontrollers': notListed,
  'watch replicationcontrollers': notWatched,
  'list replicasets.apps': notListed,
  'watch replicasets.apps': notWatched,
  'list statefulsets.apps': notListed,
  'watch statefulsets.apps': notWatched,
  'list persistentvolumeclaims': notListed,
  'watch persistentvolumeclaims': notWatched,
  'list persistentvolumes': notListed,
  'watch persistentvolumes': notWatched,
  'list storageclasses.storage.k8s.io': notListed,
  'watch storageclasses.storage.k8s.io': notWatched,
  'list csinodes.storage.k8s.io': notListed,
  'watch csinodes.storage.k8s.io': notWatched,
  'list csidrivers.storage.k8s.io': notListed,
  'watch csidrivers.storage.k8s.io': notWatched,
  'list volumeattachments.storage.k8s.io': notListed,
  'watch volumeattachments.storage.k8s.io': notWatched,
  'list csistoragecapacities.storage.k8s.io': notListed,
  'watch csistoragecapacities.storage.k8s.io': notWatched,
  'patch persistentvolumes': { log: notBound, effect: 'no pod is bound that is to have a volume which is there' },
  'patch persistentvolumeclaims': { log: notBound, effect: 'no pod is bound for which a volume is to be made' },
  'get pods': {
    log: 'could not read a pod whose binding is unconfirmed; its capacity stays assumed',
    effect: 'a Binding whose answer is lost is sent again until it is known to be done',
  },
  'create pods/binding': { log: notBound, effect: 'no pod is bound' },
  'patch pods/status': {
    log: 'could not write a verdict; retrying',
    effect: 'nobody is told why, and nobody makes room',
  },
  'patch pods': { log: notBound, effect: 'no gang is bound by an extender' },
  'delete pods': notEvicted,
  'create pods/eviction': {
    log: 'could not release a member',
    effect: 'a group that cannot be completed keeps its nodes, and says so',
  },
  'create events.events.k8s.io': { log: notWritten, effect: 'there are no Events' },
  'patch events.events.k8s.io': { log: notWritten, effect: 'repeats are not counted' },
  'create tokenreviews.authentication.k8s.io': notAsked,
  'create subjectaccessreviews.authorization.k8s.io': notAsked,
  'create leases.coordination.k8s.io': notTaken,
  'get leases.coordination.k8s.io': notTaken,
  'update leases.coordination.k8s.io': {
    log: 'cannot renew the Lease',
    effect: 'no process leads for longer than its renew deadline',
  },
  'watch leases.coordination.k8s.io': {
    effect: 'a Lease that is given up is taken after the retry period and not at once',
  },
  'patch podgroups.scheduling.x-k8s.io/status': {
    log: 'cannot write PodGroup status',
    effect: 'groups have no status, or an old one',
  },
};
