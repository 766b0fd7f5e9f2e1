const configuration = [
  'apiVersion: kubescheduler.config.k8s.io/v1',
  'kind: KubeSchedulerConfiguration',
  'leaderElection: {resourceName: tutti-scheduler, resourceNamespace: tutti-system}',
  'profiles: [{schedulerName: tutti}]',
].join('\n');
/** What a command reads to find the scheduler that leads and to get a token for it, by path. */
export const leaderObjects = {
  '/api/v1/configmaps': {
    metadata: { resourceVersion: '1' },
    items: [{ metadata: { namespace: 'tutti-system', name: 'c' }, data: { 'scheduler.yaml': configuration } }],
  },
  '/apis/coordination.k8s.io/v1/namespaces/tutti-system/leases/tutti-scheduler': {
    spec: { holderIdentity: 'tutti-scheduler-x_2b0f' },
  },
  '/api/v1/namespaces/tutti-system/pods/tutti-scheduler-x': { spec: { containers: [{ name: 'scheduler' }] } },
  '/api/v1/namespaces/tutti-system/serviceaccounts/debug/token': { status: { token: 'secret' } },
};
