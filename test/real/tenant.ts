import { systemClock as clock } from '../../src/base/system-clock.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { kubeconfigOf } from '../planes/real/service-accounts.ts';

/** A user with rights in one namespace only: to create, change and delete pods and PodGroups there, as the cluster role `edit` allows. */
export interface Tenant {
  readonly namespace: string;
  /** Uses the user's credentials. */
  readonly client: KubeClient;
  close(): Promise<void>;
}

/** Creates the namespace and the user. Resolves when the rights are in effect. */
export async function openTenant(plane: RealPlane, namespace: string): Promise<Tenant> {
  const { client: admin } = plane;
  const name = 'user';
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await admin.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await admin.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  await admin.create(`${rbac}/roles`, {
    metadata: { name },
    rules: [
      { apiGroups: [''], resources: ['pods', 'persistentvolumeclaims'], verbs },
      { apiGroups: ['scheduling.x-k8s.io'], resources: ['podgroups'], verbs },
    ],
  });
  await admin.create(`${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  const endpoint = await loadKubeconfig({ clock, path: await kubeconfigOf(plane, namespace, name) });
  const transport = new HttpTransport({ endpoint });
  const client = new KubeClient({ transport, clock, timeoutMs: hangsMs, userAgent: 'tutti-tests-tenant' });
  await poll(
    () => client.list(`/api/v1/namespaces/${namespace}/pods`).then(() => undefined, String),
    'the user may list pods',
  );
  return { namespace, client, close: () => transport.close() };
}
