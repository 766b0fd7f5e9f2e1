/** Returns a PodGroup. */
export function podGroup(name: string, minMember: number): object {
  return { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', metadata: { name }, spec: { minMember } };
}

/** Returns a pod that requests one CPU and runs until it is deleted; a member of the group, if given. */
export function worker(name: string, group?: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(group !== undefined && { labels: { 'scheduling.x-k8s.io/pod-group': group } }) },
    spec: {
      schedulerName: 'tutti',
      restartPolicy: 'Never',
      containers: [{ name: 'worker', image: 'busybox:1.36', resources: { requests: { cpu: '1' } } }],
    },
  };
}

/** Wraps objects for `kubectl -f -`. */
export function listOf(...items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items };
}
