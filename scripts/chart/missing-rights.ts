/** The symptoms of a missing permission. */
export interface MissingRight {
  /** A log message besides the error that names the permission. */
  readonly log?: string;
  /** False: no error names the permission, only the other message. */
  readonly isNamed?: false;
  /** What does not work. */
  readonly effect: string;
}

/** The error that names a missing permission with the fields `verb` and `resource`. */
export const missingPermissionMessage = 'API server rejects access: grant this user the missing permission';

const notListed = { effect: 'The process never becomes ready and does nothing' };
const notWatched = { effect: 'The process misses all changes' };
const notBound = 'could not bind';
const notNamed = {
  log: 'cannot list workloads: PodGroups without members do not name those that have their label',
  effect: 'The status of a group without members does not name the workload that has its label',
};
const notNative = {
  log: 'no PodGroups of scheduling.k8s.io: Tutti may not read them: grant list and watch',
  effect: "Pods in Kubernetes' own PodGroups wait, with a verdict that says why",
};
const noCondition = { ...notNative, effect: "Kubernetes' own PodGroups have no condition or an outdated one" };
const notEvicted = { log: 'could not evict a pod', effect: 'Preemption does not work' };
const notAsked: MissingRight = {
  log: 'cannot authenticate or authorize requests; rejecting them until the API server responds',
  isNamed: false,
  effect: '/metrics, /configz and /debug return 503; health endpoints work',
};
const notTaken = { effect: 'No process becomes the leader, so Tutti schedules and writes nothing' };

/**
 * `VERB RESOURCE.GROUP/SUBRESOURCE`, with the account if only one of the two needs it for this -> the symptoms if it is missing, for each
 * permission of the two ServiceAccounts
 */
export const missingRights: Readonly<Record<string, MissingRight>> = {
  'list podgroups.scheduling.x-k8s.io': notListed,
  'watch podgroups.scheduling.x-k8s.io': notWatched,
  'list podgroups.scheduling.k8s.io': notNative,
  'watch podgroups.scheduling.k8s.io': notNative,
  'tutti-controller: list podgroups.scheduling.k8s.io': noCondition,
  'tutti-controller: watch podgroups.scheduling.k8s.io': noCondition,
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
  'list poddisruptionbudgets.policy': notListed,
  'watch poddisruptionbudgets.policy': notWatched,
  'list jobs.batch': notListed,
  'watch jobs.batch': notWatched,
  'tutti-controller: list jobs.batch': notNamed,
  'tutti-controller: list deployments.apps': notNamed,
  'tutti-controller: list statefulsets.apps': notNamed,
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
  'patch persistentvolumes': { log: notBound, effect: 'The scheduler does not bind pods that need an existing volume' },
  'patch persistentvolumeclaims': { log: notBound, effect: 'The scheduler does not bind pods that need a new volume' },
  'get pods': {
    log: 'could not read a pod whose binding is unconfirmed; its capacity stays assumed',
    effect: 'If the response to a Binding is lost, the scheduler repeats the Binding until it knows the result',
  },
  'create pods/binding': { log: notBound, effect: 'The scheduler binds no pod' },
  'patch pods/status': {
    log: 'could not write a verdict; retrying',
    effect: 'Pods have no verdict, and preemption does not work',
  },
  'patch pods': { log: notBound, effect: 'Extenders bind no gangs' },
  'delete pods': notEvicted,
  'create pods/eviction': {
    log: 'could not release a member',
    effect: 'A partially bound group that Tutti cannot complete stays bound. Its verdict and an Event give the reason',
  },
  'create events.events.k8s.io': { effect: 'No Events exist' },
  'patch events.events.k8s.io': { effect: 'Tutti cannot count repeated Events' },
  'create tokenreviews.authentication.k8s.io': notAsked,
  'create subjectaccessreviews.authorization.k8s.io': notAsked,
  'create leases.coordination.k8s.io': notTaken,
  'get leases.coordination.k8s.io': notTaken,
  'update leases.coordination.k8s.io': {
    effect: 'No process stays the leader for longer than its renew deadline',
  },
  'watch leases.coordination.k8s.io': {
    effect: 'A standby acquires a released Lease after the retry period instead of immediately',
  },
  'patch podgroups.scheduling.x-k8s.io/status': {
    effect: 'Groups have no status or an outdated one',
  },
  'patch podgroups.scheduling.k8s.io/status': {
    effect: "Kubernetes' own PodGroups have no condition or an outdated one",
  },
};

/** Returns the key of the symptoms if the account (`tutti-controller`) lacks the permission (`list pods`). */
export function missingRightKey(account: string, right: string): string {
  const own = `${account}: ${right}`;
  return Object.hasOwn(missingRights, own) ? own : right;
}
