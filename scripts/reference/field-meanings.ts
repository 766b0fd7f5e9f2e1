/** Field of a KubeSchedulerConfiguration -> its effect in Tutti. */
export const fieldMeanings: Readonly<Record<string, string>> = {
  apiVersion: 'Required. API version of the file',
  kind: 'Required',
  parallelism: 'No effect: a scheduling cycle runs on one thread',
  'leaderElection.leaderElect':
    'Whether to elect a leader, so that one of several replicas works and the others stand by',
  'leaderElection.leaseDuration':
    'How long a standby waits after the last renewal by the leader before it takes the Lease',
  'leaderElection.renewDeadline':
    'How long the leader keeps working when it cannot renew the Lease. Shorter than `leaseDuration`',
  'leaderElection.retryPeriod':
    'Time between two attempts to acquire or renew the Lease. 1.2 times this value must be shorter than `renewDeadline`',
  'leaderElection.resourceLock': 'Kind of object to lock. Only `leases` is supported',
  'leaderElection.resourceName': 'Name of the Lease',
  'leaderElection.resourceNamespace': 'Namespace of the Lease',
  'clientConnection.kubeconfig':
    'Path of the kubeconfig file, relative to the working directory of the process. If absent, Tutti finds the kubeconfig as kubectl does',
  'clientConnection.acceptContentTypes': 'No effect: Tutti and the API server exchange JSON',
  'clientConnection.contentType': 'No effect, for the same reason',
  'clientConnection.qps': 'Calls per second to the API server. 0 means the default; a negative value means no limit',
  'clientConnection.burst': 'Maximum burst of calls. 0 means the default',
  enableProfiling: 'No effect: Tutti has no profiling endpoints',
  enableContentionProfiling: 'No effect, for the same reason',
  percentageOfNodesToScore: 'No effect: Tutti considers every node',
  percentageOfPlacementsToScore: 'No effect: Tutti plans each group as a whole',
  podInitialBackoffSeconds: 'Backoff of a pod or group after its first failure. It doubles with each failure',
  podMaxBackoffSeconds: 'Maximum backoff. At least `podInitialBackoffSeconds`',
  profiles:
    'The profiles that this process runs, one per scheduler name. If absent, one profile named `default-scheduler`',
  'profiles[].schedulerName':
    'The `spec.schedulerName` of the pods that this profile schedules. If absent, `default-scheduler`; required with several profiles',
  'profiles[].percentageOfNodesToScore': 'No effect: Tutti considers every node',
  'profiles[].percentageOfPlacementsToScore': 'No effect: Tutti plans each group as a whole',
  'profiles[].plugins.POINT.enabled':
    'Plugins that run at this point, in addition to those of `multiPoint` and the defaults',
  'profiles[].plugins.POINT.enabled[].name': 'Name of the plugin',
  'profiles[].plugins.POINT.enabled[].weight': 'Factor for the scores of the plugin. 0 or absent means 1',
  'profiles[].plugins.POINT.disabled': 'Plugins that do not run at this point',
  'profiles[].plugins.POINT.disabled[].name': 'Name of the plugin. `*` means all plugins',
  'profiles[].plugins.POINT.disabled[].weight': 'No effect',
  'profiles[].pluginConfig': 'Arguments of plugins',
  'profiles[].pluginConfig[].name': 'Name of the plugin',
  'profiles[].pluginConfig[].args': 'Arguments of the plugin. Tutti validates them as well: [below](#plugins)',
  'profiles[].reservations.enabled':
    'Whether to reserve capacity for pods and groups that wait long: [Reservations](../configuration.md#reservations-with-a-predicted-start)',
  'profiles[].reservations.poolLabel':
    'Node label whose values are the pools. If absent, the cluster is one pool. The same in all profiles with reservations',
  'profiles[].reservations.reserveAfterSeconds': 'How long a pod or group waits before Tutti reserves capacity for it',
  'profiles[].reservations.drainAfterSeconds':
    'How long it waits before Tutti drains nodes for it whose pods have no declared end. At least `reserveAfterSeconds`',
  'profiles[].reservations.overrunPenaltySeconds':
    'How long Tutti ignores the declarations of an owner after one of its pods has run for longer than declared',
  extenders: 'Processes that the scheduler calls over HTTP about nodes: [Extenders](../extenders.md)',
  'extenders[].urlPrefix': 'URL of the extender. The scheduler appends the verbs to it',
  'extenders[].filterVerb': 'Verb of the call that filters nodes. If absent, the scheduler does not make this call',
  'extenders[].preemptVerb': 'Causes an error: Tutti does not call extenders for preemption yet',
  'extenders[].prioritizeVerb': 'Verb of the call that scores nodes. If absent, the scheduler does not make this call',
  'extenders[].weight': 'Factor for the scores of the extender. At least 1 with `prioritizeVerb`',
  'extenders[].bindVerb': 'Verb of the call that binds a pod. At most one extender can have it',
  'extenders[].enableHTTPS': 'Whether to use TLS, if `urlPrefix` does not determine it',
  'extenders[].tlsConfig.insecure': "Whether to skip the verification of the extender's certificate",
  'extenders[].tlsConfig.serverName': "Name in the extender's certificate, if it differs from the host of `urlPrefix`",
  'extenders[].tlsConfig.certFile': 'File with the client certificate',
  'extenders[].tlsConfig.keyFile': 'File with the key of the client certificate',
  'extenders[].tlsConfig.caFile': "File with the CAs that verify the extender's certificate",
  'extenders[].tlsConfig.certData': 'Replaces `certFile`',
  'extenders[].tlsConfig.keyData': 'Replaces `keyFile`',
  'extenders[].tlsConfig.caData': 'Replaces `caFile`',
  'extenders[].httpTimeout': 'Timeout of a call. 0 or absent means 5s',
  'extenders[].nodeCacheCapable': 'Whether the extender caches nodes. The scheduler then sends it only their names',
  'extenders[].managedResources':
    'Extended resources that the extender manages. It gets only pods that request one of them. If empty, it gets all pods',
  'extenders[].managedResources[].name': 'Name of an extended resource. Only one extender can manage it',
  'extenders[].managedResources[].ignoredByScheduler': 'Whether NodeResourcesFit ignores the resource',
  'extenders[].ignorable': 'Whether to schedule pods without the extender if it does not respond',
  delayCacheUntilActive: 'Whether a standby watches nothing. It then takes longer to take over',
};
