import { AlreadyExistsError } from '../../src/client/api-errors.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import type { ProcessAccount, TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { kubeconfigOf, tokenOf } from '../planes/real/service-accounts.ts';
import { pathOf, rendered } from './rendered-chart.ts';
import type { ChartObject } from './rendered-chart.ts';
import { isRole, nameOf, rightsOf, roleNameOf, without } from './right.ts';
import type { Right, RoleObject } from './right.ts';
import { hangsMs } from '../planes/patience.ts';

const kinds = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/** Only the ServiceAccounts, roles and bindings of a release of the chart, in a separate namespace. */
export class InstalledRights {
  readonly namespace: string;
  /** The plane, with the two ServiceAccounts for Tutti's processes. */
  readonly plane: TestPlane;
  readonly #real: RealPlane;
  readonly #objects: readonly ChartObject[];
  readonly #transports: readonly HttpTransport[];

  private constructor(
    real: RealPlane,
    namespace: string,
    objects: readonly ChartObject[],
    accounts: Readonly<Record<'scheduler' | 'controller', ProcessAccount & { readonly transport: HttpTransport }>>,
  ) {
    this.namespace = namespace;
    this.#real = real;
    this.#objects = objects;
    this.plane = { ...real, accounts };
    this.#transports = Object.values(accounts).map(({ transport }) => transport);
  }

  /** `more`: additional ServiceAccounts. */
  static async install(
    real: RealPlane,
    namespace: string,
    values: object,
    more: readonly string[] = [],
  ): Promise<InstalledRights> {
    const all = await rendered(values, { namespace });
    const others = more.map((name) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }));
    const objects = [...all.filter(({ kind }) => kinds.includes(kind)), ...others];
    await real.client.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    for (const object of objects) {
      await real.client.create(pathOf(object).replace(/\/[^/]*$/, ''), object).catch((error: unknown) => {
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
    }
    const account = async (name: string): Promise<ProcessAccount & { readonly transport: HttpTransport }> => {
      const kubeconfigPath = await kubeconfigOf(real, namespace, name);
      const endpoint = await loadKubeconfig({ clock: systemClock, path: kubeconfigPath });
      return { kubeconfigPath, transport: new HttpTransport({ endpoint }) };
    };
    const accounts = { scheduler: await account('tutti-scheduler'), controller: await account('tutti-controller') };
    const rights = new InstalledRights(real, namespace, objects, accounts);
    const effective = objects
      .filter(isRole)
      .flatMap((role) =>
        rights
          .#holdersOf(role)
          .flatMap((holder) => rightsOf(role).map((right) => rights.#decided(holder, role, right, true))),
      );
    await Promise.all(effective);
    return rights;
  }

  token(serviceAccount: string): Promise<string> {
    return tokenOf(this.#real.client, this.namespace, serviceAccount);
  }

  /** Removes permissions. Resolves once the API server rejects their use, with a function that restores them. */
  async take(...rights: readonly Right[]): Promise<() => Promise<void>> {
    const { client } = this.#real;
    const changes = this.#objects.filter(isRole).flatMap((role) => {
      const taken = rights.filter((right) => right.role === roleNameOf(role));
      return taken.length > 0 ? [{ role, taken }] : [];
    });
    const decided = (isAllowed: boolean): Promise<unknown> =>
      Promise.all(
        changes.flatMap(({ role, taken }) =>
          this.#holdersOf(role).flatMap((holder) =>
            taken.map((right) => this.#decided(holder, role, right, isAllowed)),
          ),
        ),
      );
    for (const { role, taken } of changes) await client.replace(pathOf(role), taken.reduce(without, role));
    await decided(false);
    return async () => {
      for (const { role } of changes) await client.replace(pathOf(role), role);
      await decided(true);
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }

  /** Returns the names of the ServiceAccounts that have the role. */
  #holdersOf(role: RoleObject): readonly string[] {
    const bindings = this.#objects as readonly (ChartObject & {
      readonly roleRef?: { readonly name: string };
      readonly subjects?: readonly { readonly name: string }[];
    })[];
    return bindings.flatMap(({ roleRef, subjects = [] }) =>
      roleRef?.name === role.metadata.name ? subjects.map(({ name }) => name) : [],
    );
  }

  /** Resolves once the API server would decide so. */
  async #decided(holder: string, role: RoleObject, right: Right, isAllowed: boolean): Promise<void> {
    const { verb, group, resource } = right;
    const [kind, subresource] = resource.split('/');
    const named = role.rules.find((rule) => rule.resources?.includes(resource) === true && rule.verbs.includes(verb));
    const attributes = resource.startsWith('/')
      ? { nonResourceAttributes: { verb, path: resource } }
      : {
          resourceAttributes: {
            verb,
            group,
            resource: kind,
            subresource,
            name: named?.resourceNames?.[0],
            namespace: role.metadata.namespace,
          },
        };
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        ...attributes,
        user: `system:serviceaccount:${this.namespace}:${holder}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${this.namespace}`, 'system:authenticated'],
      },
    };
    await poll(
      async () => {
        const { status } = await this.#real.client.create<{ status: { allowed: boolean } }>(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          review,
        );
        return status.allowed === isAllowed
          ? undefined
          : `${holder} may ${isAllowed ? 'not' : 'still'} ${nameOf(right)}`;
      },
      'a change of permissions is in effect',
      hangsMs,
    );
  }
}
