import { podGroupResource } from '../../src/api/pod-group.ts';
import { systemClock as clock } from '../../src/base/system-clock.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { kubeconfigOf } from '../planes/real/service-accounts.ts';

const rbac = 'rbac.authorization.k8s.io';

/** A user with rights in one namespace only: those of Kubernetes' role `edit`, and of the chart's role for PodGroups. */
export interface Tenant {
  readonly namespace: string;
  /** Uses the user's credentials. */
  readonly client: KubeClient;
  close(): Promise<void>;
}

/** Creates the namespace and the user. Resolves when the rights are in effect. */
export async function openTenant(plane: RealPlane, namespace: string): Promise<Tenant> {
  await plane.client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  return openTenantIn(plane, namespace);
}

/** Creates the user in an existing namespace. Resolves when the rights are in effect. */
export async function openTenantIn(plane: RealPlane, namespace: string): Promise<Tenant> {
  const { client: admin } = plane;
  const name = 'user';
  const roles = `/apis/${rbac}/v1/namespaces/${namespace}`;
  await admin.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  await admin.create(`${roles}/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [podGroupResource.group], resources: [podGroupResource.plural], verbs: ['*'] }],
  });
  // Without a controller manager, the role `edit` does not contain the roles that it aggregates.
  const granted = [
    { kind: 'Role', name },
    ...['edit', 'view'].map((role) => ({ kind: 'ClusterRole', name: `system:aggregate-to-${role}` })),
  ];
  for (const [index, role] of granted.entries()) {
    await admin.create(`${roles}/rolebindings`, {
      metadata: { name: `${name}-${index}` },
      roleRef: { apiGroup: rbac, ...role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
  }
  const endpoint = await loadKubeconfig({ clock, path: await kubeconfigOf(plane, namespace, name) });
  const transport = new HttpTransport({ endpoint });
  const client = new KubeClient({ transport, clock, timeoutMs: hangsMs, userAgent: 'tutti-tests-tenant' });
  await poll(
    () => client.list(`/api/v1/namespaces/${namespace}/pods`).then(() => undefined, String),
    'the user may list pods',
  );
  return { namespace, client, close: () => transport.close() };
}
