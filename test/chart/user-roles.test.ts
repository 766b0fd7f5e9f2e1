import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { systemClock as clock } from '../../src/base/system-clock.ts';
import { ForbiddenError } from '../../src/client/api-errors.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { poll } from '../planes/poll.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { kubeconfigOf } from '../planes/real/service-accounts.ts';
import { pathOf, rendered } from './rendered-chart.ts';
import { isRole, roleNameOf } from './right.ts';
import type { RoleObject } from './right.ts';

const programs = await provideForSuite('the roles of users', ['etcd', 'kube-apiserver', 'kube-controller-manager']);
const namespace = 'users';
const reading = ['get', 'list', 'watch'];
const writing = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const statusWriting = ['patch status', 'update status'];

const red = podGroupPath(namespace, 'red');

/** Calls of a user on PodGroups: one for each verb, with the current group `red`. */
const calls: Readonly<Record<string, (client: KubeClient, present: object) => Promise<unknown>>> = {
  get: (client) => client.get(red),
  list: (client) => client.list(podGroupPath(namespace)),
  watch: async (client) => {
    const ended = new AbortController();
    await client.watch(podGroupPath(namespace), new URLSearchParams(), ended.signal);
    ended.abort();
  },
  create: (client) => client.create(podGroupPath(namespace), group('blue')),
  update: (client, present) => client.replace(red, present),
  patch: (client) => client.patch(red, 'merge', { spec: { minMember: 2 } }),
  'update status': (client, present) => client.replace(`${red}/status`, present),
  'patch status': (client) => client.patch(`${red}/status`, 'merge', { status: { phase: 'Finished' } }),
  delete: (client) => client.delete(red),
  deletecollection: (client) => client.delete(podGroupPath(namespace)),
};

describe.skipIf(programs.state === 'missing')('The chart’s roles for users on a real cluster', () => {
  const real = planeForSuite(programs, { controllerManager: true });
  const transports: HttpTransport[] = [];

  beforeAll(async () => {
    await real().client.create('/api/v1/namespaces', { metadata: { name: namespace } });
    for (const role of await userRoles({})) await real().client.create(pathOf(role).replace(/\/[^/]*$/, ''), role);
    await aggregated('view', true);
    await aggregated('edit', true);
    await aggregated('admin', true);
  });

  afterAll(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
  });

  /** Resolves once the cluster's own role covers PodGroups or not, as its aggregation controller sets it. */
  async function aggregated(role: string, isThere: boolean): Promise<void> {
    const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`;
    await poll(
      async () => {
        // Null until the roles have been aggregated for the first time.
        const { rules } = await real().client.get<Omit<RoleObject, 'rules'> & { rules: RoleObject['rules'] | null }>(
          path,
        );
        const found = (rules ?? []).filter(({ resources = [] }) => resources.includes('podgroups'));
        return found.length > 0 === isThere ? undefined : JSON.stringify(found);
      },
      `${role} ${isThere ? 'covers' : 'does not cover'} PodGroups`,
    );
  }

  /** Returns a client of a user with the role in the namespace. */
  async function user(role: string): Promise<KubeClient> {
    const name = `has-${role.replaceAll(':', '-')}`;
    await real().client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
    await real().client.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
    const endpoint = await loadKubeconfig({ clock, path: await kubeconfigOf(real(), namespace, name) });
    const transport = new HttpTransport({ endpoint });
    transports.push(transport);
    const client = new KubeClient({ transport, clock, userAgent: 'tutti-tests' });
    await poll(
      () => client.list(podGroupPath(namespace)).then(() => undefined, String),
      `the binding to ${role} is in effect`,
    );
    return client;
  }

  /** Returns the verbs that are not rejected. */
  async function allowed(client: KubeClient): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [verb, call] of Object.entries(calls)) {
      await real().client.delete(podGroupPath(namespace));
      const present = await real().client.create<object>(podGroupPath(namespace), group('red'));
      try {
        await call(client, present);
        found.push(verb);
      } catch (error) {
        if (!(error instanceof ForbiddenError)) throw error;
      }
    }
    return found;
  }

  it.each([
    ['view', reading],
    ['edit', [...reading, ...writing]],
    ['admin', [...reading, ...writing]],
    ['cluster-admin', [...reading, ...writing, ...statusWriting]],
  ])(
    '%s allows what its name suggests on PodGroups, and status writes only if it allows everything',
    async (role, verbs) => {
      expect(new Set(await allowed(await user(role)))).toEqual(new Set(verbs));
    },
  );

  it('are not aggregated with rbac.aggregate=false, and can be bound by their own names', async () => {
    const own = await userRoles({ rbac: { aggregate: false } });
    for (const role of own) await real().client.replace(pathOf(role), role);
    await aggregated('view', false);
    await aggregated('edit', false);
    await aggregated('admin', false);
    expect(own.map(({ metadata }) => metadata.name)).toEqual(['tutti:tutti-system:view', 'tutti:tutti-system:edit']);
    expect(new Set(await allowed(await user('tutti:tutti-system:view')))).toEqual(new Set(reading));
  });
});

async function userRoles(values: object): Promise<readonly RoleObject[]> {
  return (await rendered(values)).filter(isRole).filter((role) => ['view', 'edit'].includes(roleNameOf(role)));
}

function group(name: string): object {
  return {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { minMember: 1 },
  };
}
