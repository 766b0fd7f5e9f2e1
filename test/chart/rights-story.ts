import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { nativePodGroupPath, projectNativePodGroup } from '../../src/api/native-pod-group.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import { runController } from '../../src/compose/controller.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { runScheduler } from '../../src/compose/scheduler.ts';
import {
  defaultConfiguration,
  defaultLeaderElection,
  defaultProfile,
  defaultReservations,
} from '../../src/config/scheduler-configuration.ts';
import type { LeaderElectionConfiguration } from '../../src/config/scheduler-configuration.ts';
import { defaultSecureServing } from '../../src/serving/secure-serving-options.ts';
import { httpsGet } from '../../src/serving/testing/https-get.ts';
import { expectBound, nodeOf } from '../expect/expect-bound.ts';
import { poll } from '../planes/poll.ts';
import { freePorts } from '../planes/real/ports.ts';
import { podManifest, schedulerName } from '../scenarios/pod-manifest.ts';
import type { PodSpec } from '../scenarios/pod-manifest.ts';
import { Stage } from '../scenarios/stage.ts';
import { VolumeStore } from '../scenarios/volume-store.ts';
import type { InstalledRights } from './installed-rights.ts';
import { hangsMs } from '../planes/patience.ts';

const device = 'example.com/device';
const nudgeEveryMs = 250;

/** Returns values with which the chart grants all the permissions that it can grant. */
export function allRights(namespace: string): object {
  return {
    metrics: { readers: [{ name: 'reader', namespace }] },
    config: { extenders: [{ urlPrefix: 'http://extender', bindVerb: 'bind' }] },
    reservations: { enabled: true },
    nativePodGroups: { writeStatus: true },
  };
}

/**
 * A scenario in which Tutti needs every permission that the chart grants its two ServiceAccounts. There are two schedulers and two
 * controllers, one of each on standby. Pods use existing and provisioned volumes. One gang has a Binding whose response is lost. The
 * scheduler retries one that never fits, and an extender binds another one. One group lacks members, because a pod has another key than the
 * label. One gang is a PodGroup of Kubernetes itself. One pod preempts others. The scheduler releases a group that it cannot complete. A client reads the metrics.
 */
export class RightsStory {
  readonly #rights: InstalledRights;
  readonly #stage: Stage;
  readonly #extender: Server;
  readonly #schedulers: RunningProcess[] = [];
  readonly #controllers: RunningProcess[] = [];
  /** Always the same token, because the processes cache its review. */
  #token: Promise<string> | undefined;
  #nudgedAt = 0;
  #nudges = 0;

  private constructor(rights: InstalledRights, stage: Stage, extender: Server) {
    this.#rights = rights;
    this.#stage = stage;
    this.#extender = extender;
  }

  /** Runs the scenario until `isOver` returns undefined; any other result describes what is missing. Cleans up afterwards. */
  static async play(
    rights: InstalledRights,
    isOver: (story: RightsStory) => Promise<string | undefined>,
  ): Promise<void> {
    const stage = await Stage.open(rights.plane);
    const extender = await bindingExtender(stage);
    const story = new RightsStory(rights, stage, extender);
    try {
      await story.#begin();
      await poll(
        async () => {
          await story.#nudge();
          return isOver(story);
        },
        'the scenario is complete',
        hangsMs,
      );
    } finally {
      for (const process of [...story.#schedulers, ...story.#controllers]) await process.stop();
      extender.close();
      extender.closeAllConnections();
      await stage.close();
      for (const name of ['tutti-scheduler', 'tutti-controller']) await story.#deleteLease(name);
    }
  }

  /** Returns what has not happened yet; undefined when everything has. */
  async missing(): Promise<string | undefined> {
    const { record, namespace } = this.#stage;
    const members = [
      'whole-0',
      'whole-1',
      'extended-0',
      'extended-1',
      'greedy',
      'stored',
      'made',
      'native-0',
      'native-1',
    ];
    const waiting = members.filter((name) => nodeOf(record, `${namespace}/${name}`) === undefined);
    if (waiting.length > 0) return `${waiting.join()} are not bound`;
    if ((await this.#phaseOf('whole')) === undefined) return 'the group has no status';
    if (!(await this.#isNativeScheduled())) return 'the native group has no condition';
    if (record.pods.current.has(`${namespace}/partial-0`))
      return 'the scheduler has not released the group that it cannot complete';
    const statuses = await this.ask('/metrics');
    return statuses.every((status) => status === 200) ? undefined : `/metrics answers ${statuses.join()}`;
  }

  /** Returns the response of each process to a client with the chart's reader roles, schedulers first. 0: no response. */
  async ask(path: string): Promise<readonly number[]> {
    const token = await (this.#token ??= this.#rights.token('reader'));
    const processes = [...this.#schedulers, ...this.#controllers];
    const statuses = processes.map(({ url }) =>
      httpsGet(`${url}${path}`, { token }).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    return Promise.all(statuses);
  }

  /** Ends one process of each kind, so that the standby takes over. Resolves when it has. */
  async changeLeaders(): Promise<void> {
    await this.#schedulers.shift()!.stop();
    await this.#controllers.shift()!.stop();
    const gang = await this.#createGang('after', { cpu: 1 });
    await expectBound(this.#stage.record, gang);
    const hasStatus = async (): Promise<string | undefined> =>
      (await this.#phaseOf('after')) === undefined ? 'the next gang has no status' : undefined;
    await poll(hasStatus, 'the standby controller takes over', hangsMs);
  }

  /** Log lines of the processes. */
  get logged(): Stage['logs'] {
    return this.#stage.logs;
  }

  async #begin(): Promise<void> {
    const stage = this.#stage;
    const [wide, full, changing] = await stage.addNodes(
      { name: 'wide', allocatable: { cpu: '8', [device]: '2' } },
      { name: 'full', allocatable: { cpu: '1' } },
      { name: 'changing', allocatable: { cpu: '4' } },
    );
    const on = (node: string): object => ({ nodeSelector: { 'kubernetes.io/hostname': node } });
    await stage.createPod('modest', { cpu: 1, nodeName: full! });
    await this.#start();
    await this.#createGang('whole', { cpu: 1, ...on(wide!) });
    await this.#createNativeGang(on(wide!));
    await this.#createVolumes(wide!);
    await this.#createGang('stuck', { cpu: 3, ...on(changing!) });
    await this.#createGang('extended', { cpu: 1, requests: { [device]: 1 } });
    await stage.createPod('greedy', { cpu: 1, priority: 'high', ...on(full!) });
    await stage.createGroup('partial', { minMember: 2, repairGraceSeconds: 0 });
    await stage.createGroup('mislaid', { minMember: 2 });
    const owner = await stage.createOwner('job');
    await stage.createPod('partial-0', { cpu: '100m', nodeName: wide!, group: 'partial', owner });
  }

  /** One pod uses an existing volume, and another one a provisioned volume. */
  async #createVolumes(node: string): Promise<void> {
    const stage = this.#stage;
    const store = await VolumeStore.open(stage);
    const [byHand, made] = [await store.createClass('by-hand', 'by hand'), await store.createClass('made', 'made')];
    await store.createClaim('stored', byHand);
    await store.createClaim('made', made);
    await store.createVolume('stored', byHand, { label: 'kubernetes.io/hostname', value: node });
    for (const name of ['stored', 'made']) await stage.createPod(name, { cpu: '100m', claims: [name] });
  }

  async #createGang(name: string, spec: PodSpec): Promise<string[]> {
    await this.#stage.createGroup(name, { minMember: 2 });
    return this.#stage.createPods(name, 2, { ...spec, group: name });
  }

  /** Creates a gang with a PodGroup of Kubernetes itself. */
  async #createNativeGang(where: object): Promise<void> {
    const { client, namespace } = this.#stage;
    await client.create(`/apis/scheduling.k8s.io/v1beta1/namespaces/${namespace}/podgroups`, {
      metadata: { name: 'native', namespace },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    });
    for (const name of ['native-0', 'native-1']) {
      const pod = podManifest(name, namespace, { cpu: '100m', ...where }) as { readonly spec: object };
      const spec = { ...pod.spec, schedulingGroup: { podGroupName: 'native' } };
      await client.create(`/api/v1/namespaces/${namespace}/pods`, { ...pod, spec });
    }
  }

  async #start(): Promise<void> {
    const { plane, namespace } = this.#rights;
    const { logs: logger } = this.#stage;
    const proxy = await this.#stage.openProxy();
    let bindings = 0;
    proxy.fault = async ({ method, path }, forward) => {
      if (method !== 'POST' || !path.endsWith('/binding') || ++bindings > 1) return undefined;
      const { status } = await forward();
      if (status === 403) return undefined; // repeated, and rejected again
      throw new Error('lost for a test');
    };
    const ports = await freePorts(4);
    const serving = { kind: 'secure', ...defaultSecureServing, bindAddress: '127.0.0.1' } as const;
    const configuration = defaultConfiguration({
      profiles: [{ ...defaultProfile(schedulerName), reservations: defaultReservations }],
      clientConnection: { qps: 0, burst: 1 },
      leaderElection: election('tutti-scheduler', namespace),
      podBackoff: { initialMs: 50, maxMs: 200 },
      extenders: [
        {
          urlPrefix: `http://127.0.0.1:${(this.#extender.address() as AddressInfo).port}`,
          bindVerb: 'bind',
          weight: 1,
          enableHttps: false,
          httpTimeoutMs: 5_000,
          nodeCacheCapable: true,
          managedResources: [{ name: device, ignoredByScheduler: false }],
          ignorable: false,
        },
      ],
    });
    for (const index of [0, 1]) {
      const scheduler = await runScheduler({
        endpoint: proxy.endpoint,
        configuration,
        serving: { ...serving, securePort: ports[index]! },
        logger,
      });
      this.#schedulers.push(scheduler);
      const controller = await runController({
        kubeconfig: plane.accounts!.controller.kubeconfigPath,
        leaderElection: election('tutti-controller', namespace),
        serving: { ...serving, securePort: ports[index + 2]! },
        qps: 0,
        burst: 1,
        workers: 1,
        logger,
      });
      this.#controllers.push(controller);
    }
  }

  /**
   * Alternately opens and closes the node of the gang that does not fit, so that it is rejected for one reason and then another. Also creates
   * and deletes a pod that was meant to be a member of a group, and requests metrics.
   */
  async #nudge(): Promise<void> {
    const now = performance.now();
    if (now - this.#nudgedAt < nudgeEveryMs) return;
    this.#nudgedAt = now;
    const [, , changing] = this.#stage.nodes;
    const isOpen = ++this.#nudges % 2 === 0;
    await this.#stage.client.patch(`/api/v1/nodes/${changing}`, 'merge', { spec: { unschedulable: !isOpen } });
    const cpu = isOpen ? '4' : '5';
    await this.#stage.setNodeStatus(changing!, { allocatable: { cpu }, capacity: { cpu } });
    if (isOpen) await this.#stage.deletePod(`${this.#stage.namespace}/mislaid-0`);
    else await this.#createMislaid();
    await this.ask('/metrics');
  }

  /** Creates a pod with the name of a group under a wrong key. No scheduler binds it. */
  async #createMislaid(): Promise<void> {
    const labels = { 'scheduling.k8s.io/pod-group': 'mislaid' };
    await this.#stage.createPod('mislaid-0', { labels, gates: ['example.com/never'] });
  }

  async #phaseOf(name: string): Promise<string | undefined> {
    const path = podGroupPath(this.#stage.namespace, name);
    return (await this.#stage.client.get<{ readonly status?: { readonly phase?: string } }>(path)).status?.phase;
  }

  async #isNativeScheduled(): Promise<boolean> {
    const { client, namespace } = this.#stage;
    const group = projectNativePodGroup(await client.get(nativePodGroupPath('v1beta1', namespace, 'native')));
    return group.scheduled?.status === 'True';
  }

  async #deleteLease(name: string): Promise<void> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${this.#rights.namespace}/leases/${name}`;
    await this.#stage.client.delete(path).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
  }
}

/** Short times, so that a test does not wait. */
function election(resourceName: string, resourceNamespace: string): LeaderElectionConfiguration {
  const times = { leaseDurationMs: 5_000, renewDeadlineMs: 4_000, retryPeriodMs: 200 };
  return { ...defaultLeaderElection, ...times, resourceName, resourceNamespace };
}

/** An extender that binds the pods it receives, with its own permissions. */
async function bindingExtender({ client }: Stage): Promise<Server> {
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { PodName, PodNamespace, PodUID, Node } = JSON.parse(body) as Record<string, string>;
      await client.create(`/api/v1/namespaces/${PodNamespace}/pods/${PodName}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: PodName, namespace: PodNamespace, uid: PodUID },
        target: { apiVersion: 'v1', kind: 'Node', name: Node },
      });
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
