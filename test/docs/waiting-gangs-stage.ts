import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { runController } from '../../src/compose/controller.ts';
import { runScheduler } from '../../src/compose/scheduler.ts';
import { defaultConfiguration, defaultProfile, noLeaderElection } from '../../src/config/scheduler-configuration.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { SimulatedNodes } from '../../src/plane/nodes/simulated-nodes.ts';
import { pathOf, rendered } from '../chart/rendered-chart.ts';
import { isRole, roleNameOf } from '../chart/right.ts';
import type { TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import { PageStage } from './page-stage.ts';

const namespace = 'ml';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const nodes = ['node-1', 'node-2'].map((name) => ({ name, allocatable: { cpu: '2', memory: '4Gi' } }));
const unlimited = { qps: 0, burst: 1 };

/** The people of the page, each with a context in the kubeconfig. */
const users = ['ana', 'ben'] as const;

/** The cluster of docs/tasks/administrators/waiting-gangs.md: two nodes, three gangs that wait, and a scheduler and a controller. */
export class WaitingGangsStage {
  readonly page: PageStage;
  /** Cleanup functions; run in reverse order. */
  readonly #started: (() => Promise<unknown>)[];

  private constructor(page: PageStage, started: (() => Promise<unknown>)[]) {
    this.page = page;
    this.#started = started;
  }

  /** `hasAccessControl`: the API server decides by RBAC what the users may do. Closes the plane with the stage. */
  static async open(
    plane: TestPlane,
    folder: string,
    { hasAccessControl }: { readonly hasAccessControl: boolean },
  ): Promise<WaitingGangsStage> {
    const kubeconfigPath = join(folder, 'users.kubeconfig');
    await writeFile(
      kubeconfigPath,
      stringify(withUsers(parse(await readFile(plane.kubeconfigPath, 'utf8')) as Kubeconfig, hasAccessControl)),
      {
        mode: 0o600,
      },
    );
    const page = await PageStage.open({ ...plane, kubeconfigPath });
    const stage = new WaitingGangsStage(page, []);
    try {
      await stage.#start(plane, hasAccessControl);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const end of this.#started.splice(0).reverse()) await end();
    await this.page.close();
  }

  async #start(plane: TestPlane, hasAccessControl: boolean): Promise<void> {
    const { client, transport } = plane;
    await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const simulated = new SimulatedNodes({ transport, clock: systemClock, random: Math.random, nodes });
    this.#started.push(() => simulated.stop());
    await simulated.start();
    // A real server taints new nodes until a controller has seen that they are ready.
    for (const { name } of nodes) await client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints: null } });
    const endpoint = await loadKubeconfig({ clock: systemClock, path: plane.kubeconfigPath });
    const shared = { endpoint, serving: { kind: 'local', port: 0 }, logger: silentLogger } as const;
    const controller = await runController({ ...shared, ...unlimited, workers: 1 });
    this.#started.push(() => controller.stop());
    const configuration = defaultConfiguration({
      profiles: [defaultProfile('tutti')],
      clientConnection: unlimited,
      leaderElection: noLeaderElection,
    });
    const scheduler = await runScheduler({ ...shared, configuration });
    this.#started.push(() => scheduler.stop());
    if (hasAccessControl) await this.#grant();
    await this.#createPod('import', '1500m');
    await this.#bound('import');
    await this.#createGang('train', ['1500m', '1500m'], 2);
    await this.#createGang('survey', ['100m', '100m'], 3);
    await this.#createGang('report', ['100m'], 1, { nodeSelector: { disk: 'ssd' } });
    await this.#verdicts('report-0 finds no node', 'survey has 2 of the 3 members', '1 of 2 members would fit');
  }

  /** Ana has `view` in the namespace. Ben has `edit` there, and may list everything that decides where pods fit. */
  async #grant(): Promise<void> {
    const { client } = this.page.plane;
    for (const role of (await rendered({})).filter(isRole)) {
      if (['view', 'edit', 'explain'].includes(roleNameOf(role)))
        await client.create(pathOf(role).replace(/\/[^/]*$/, ''), role);
    }
    const bind = (user: string, role: string, where: string): Promise<unknown> =>
      client.create(`${rbac}${where}`, {
        metadata: { name: `${user}-${role.replaceAll(':', '-')}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      });
    await bind('ana', 'view', `/namespaces/${namespace}/rolebindings`);
    await bind('ben', 'edit', `/namespaces/${namespace}/rolebindings`);
    await bind('ben', 'tutti:tutti-system:explain', '/clusterrolebindings');
    for (const [user, verb, group, resource, where] of [
      ['ana', 'list', 'scheduling.x-k8s.io', 'podgroups', namespace],
      ['ana', 'list', '', 'pods', namespace],
      ['ben', 'create', '', 'pods', namespace],
      ['ben', 'list', '', 'nodes', undefined],
    ] as const)
      await this.#allowed(user, { verb, group, resource, ...(where !== undefined && { namespace: where }) });
  }

  async #allowed(user: string, resourceAttributes: object): Promise<void> {
    await poll(
      async () => {
        const { status } = await this.page.plane.client.create<{ status: { allowed: boolean } }>(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: { user, groups: ['system:authenticated'], resourceAttributes },
          },
        );
        return status.allowed ? undefined : 'not yet';
      },
      `${user} may ${JSON.stringify(resourceAttributes)}`,
    );
  }

  async #createGang(name: string, cpus: readonly string[], minMember: number, more: object = {}): Promise<void> {
    await this.page.plane.client.create(podGroupPath(namespace), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name, namespace },
      spec: { minMember },
    });
    for (const [index, cpu] of cpus.entries())
      await this.#createPod(`${name}-${index}`, cpu, { [podGroupLabel]: name }, more);
  }

  async #createPod(name: string, cpu: string, labels: object = {}, more: object = {}): Promise<void> {
    await this.page.plane.client.create(`/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels },
      spec: {
        schedulerName: 'tutti',
        containers: [{ name: 'main', image: 'train:1', resources: { requests: { cpu } } }],
        ...more,
      },
    });
  }

  async #bound(name: string): Promise<void> {
    await poll(async () => {
      const { spec } = await this.page.plane.client.get<{ spec: { nodeName?: string } }>(
        `/api/v1/namespaces/${namespace}/pods/${name}`,
      );
      return spec.nodeName === undefined ? 'it is not' : undefined;
    }, `${name} is bound`);
  }

  /** Resolves once these texts are in the conditions of groups. */
  async #verdicts(...texts: readonly string[]): Promise<void> {
    await poll(async () => {
      const { items } = await this.page.plane.client.list(podGroupPath(namespace));
      const groups = JSON.stringify(items);
      return texts.every((text) => groups.includes(text)) ? undefined : groups;
    }, 'the groups have their verdicts');
  }
}

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly { readonly name: string; readonly context: object & { readonly user: string } }[];
  readonly users: readonly { readonly name: string; readonly user: object }[];
}

/** Adds the users. They impersonate, so that the API server decides about them. All contexts have the namespace of the page. */
function withUsers(kubeconfig: Kubeconfig, hasAccessControl: boolean): object {
  const current = kubeconfig.contexts.find(({ name }) => name === kubeconfig['current-context'])!;
  const { user: own } = kubeconfig.users.find(({ name }) => name === current.context.user)!;
  return {
    ...kubeconfig,
    contexts: [
      { name: current.name, context: { ...current.context, namespace } },
      ...users.map((name) => ({ name, context: { ...current.context, user: name, namespace } })),
    ],
    users: [
      ...kubeconfig.users,
      ...users.map((name) => ({ name, user: { ...own, ...(hasAccessControl && { as: name }) } })),
    ],
  };
}
