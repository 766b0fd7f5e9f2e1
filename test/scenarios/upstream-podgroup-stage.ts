import { statusAnswer } from '../planes/api-proxy.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import { describePods, expectBound, expectCountBound, nodeOf } from '../expect/expect-bound.ts';
import { carries } from '../expect/expect-verdict.ts';
import { podManifest } from './pod-manifest.ts';
import type { PodSpec } from './pod-manifest.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';
import type { NativeGroup, UpstreamCase, UpstreamStep, UpstreamTest } from './upstream-podgroup-case.ts';

/** Starts a scheduler for the pods of the stage that reaches the server through the proxy. */
export type StartScheduler = (stage: Stage, proxy: ApiProxy, played: UpstreamCase) => Promise<void>;

/** Starts Tutti: its scheduler and its controller. */
export const startTutti: StartScheduler = async (stage, proxy, { surplusPreempts }) => {
  await stage.startController();
  const args = surplusPreempts && { DefaultPreemption: { surplusPreempts } };
  await stage.startScheduler({ through: proxy, ...(args && { args }) });
};

/** Returns a scenario that plays the case with a scheduler. */
export function upstreamScenario(test: UpstreamTest, played: UpstreamCase, startScheduler: StartScheduler): Scenario {
  return scenario(played.name, async (stage) => {
    const player = new Player(stage, test, await stage.openProxy());
    stage.atEnd(() => player.clear());
    await player.addClaims(played.claims ?? []);
    await player.play({ do: 'add nodes', nodes: test.firstNodes });
    await startScheduler(stage, player.proxy, played);
    for (const [index, step] of played.steps.entries()) {
      await player.play(step).catch((error: unknown) => {
        throw new Error(`step ${index + 1}, ${JSON.stringify(step)}: ${String(error)}`, { cause: error });
      });
    }
  });
}

class Player {
  readonly proxy: ApiProxy;
  readonly #stage: Stage;
  readonly #test: UpstreamTest;
  /** name -> its name on the stage */
  readonly #nodes = new Map<string, string>();
  readonly #groups = new Set<string>();
  #seenOn: string | undefined;
  #seen = 0;

  constructor(stage: Stage, test: UpstreamTest, proxy: ApiProxy) {
    this.#stage = stage;
    this.#test = test;
    this.proxy = proxy;
  }

  play(step: UpstreamStep): Promise<void> {
    return 'do' in step ? this.#act(step) : this.#verify(step);
  }

  /** Creates claims that one pod at a time may use, each with the volume to which it is bound. */
  async addClaims(names: readonly string[]): Promise<void> {
    const { client, namespace } = this.#stage;
    const size = { storage: '1Mi' };
    const accessModes = ['ReadWriteOncePod'];
    for (const name of names) {
      const volumeName = `${namespace}-${name}`;
      await client.create('/api/v1/persistentvolumes', {
        metadata: { name: volumeName },
        spec: {
          accessModes,
          capacity: size,
          hostPath: { path: '/mnt', type: 'DirectoryOrCreate' },
          claimRef: { namespace, name },
        },
      });
      this.#stage.atEnd(() => client.delete(`/api/v1/persistentvolumes/${volumeName}`).then(() => undefined));
      const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
      await client.create(claims, {
        metadata: { name, annotations: { 'pv.kubernetes.io/bind-completed': 'true' } },
        spec: { accessModes, resources: { requests: size }, volumeName },
      });
      await client.patch(`${claims}/${name}/status`, 'merge', { status: { phase: 'Bound' } });
    }
  }

  async clear(): Promise<void> {
    for (const group of this.#groups) await this.#deleteGroup(group);
  }

  async #act(step: Extract<UpstreamStep, { readonly do: string }>): Promise<void> {
    switch (step.do) {
      case 'add nodes':
        for (const name of step.nodes) {
          const { cpu, labels } = this.#test.nodes[name]!;
          const [added] = await this.#stage.addNodes({ name, allocatable: { cpu }, ...(labels && { labels }) });
          this.#nodes.set(name, added!);
        }
        return;
      case 'create group':
        await this.#stage.client.create(
          this.#groupPath(),
          groupManifest(nameOf(step.group), this.#test.groups[step.group]!),
        );
        this.#groups.add(nameOf(step.group));
        return this.#groupsSeen();
      case 'set minCount':
        await this.#stage.client.patch(this.#groupPath(step.group), 'merge', {
          spec: { schedulingPolicy: { gang: { minCount: step.to } } },
        });
        return this.#groupsSeen();
      case 'delete group':
        await this.#deleteGroup(step.group);
        return this.#groupsSeen();
      case 'create pods':
        for (const name of step.pods) await this.#createPod(name);
        return;
      case 'delete pods':
        for (const key of this.#keys(step.pods)) await this.#stage.deletePod(key);
        return;
      case 'ungate pods':
        for (const key of this.#keys(step.pods)) await this.#stage.liftGates(key);
        return;
      case 'fail a Binding':
        this.#failBinding(step.pod);
    }
  }

  async #verify(step: Extract<UpstreamStep, { readonly expect: string }>): Promise<void> {
    const { record } = this.#stage;
    switch (step.expect) {
      case 'bound':
        return expectBound(record, this.#keys(step.pods));
      case 'unschedulable':
        return this.#untilUnschedulable(this.#keys(step.pods));
      case 'removed': {
        const keys = this.#keys(step.pods);
        return record.until(`${keys.join(', ')} are gone`, hangsMs, () => {
          const left = keys.filter((key) => record.pods.current.has(key));
          return left.length === 0 ? undefined : describePods(record, left);
        });
      }
      case 'some bound': {
        const keys = this.#keys(step.pods);
        await expectCountBound(record, keys, step.bound);
        const others = keys.filter((key) => nodeOf(record, key) === undefined);
        return this.#untilUnschedulable(others);
      }
      case 'not tried':
      case 'held': {
        await this.#stage.settle();
        const keys = this.#keys(step.pods);
        const wrong = keys.filter(
          (key) =>
            nodeOf(record, key) !== undefined ||
            (step.expect === 'not tried' && carries(record, key, { reason: 'Unschedulable' })),
        );
        if (wrong.length > 0) throw new Error(`${step.expect} expected of ${describePods(record, wrong)}`);
        return;
      }
      case 'node': {
        const node = this.#nodes.get(step.node);
        const elsewhere = this.#keys(step.pods).filter((key) => nodeOf(record, key) !== node);
        if (elsewhere.length > 0) throw new Error(`${elsewhere.join(', ')} are not on ${node}`);
        return;
      }
      case 'preempted': {
        const keys = this.#keys(step.pods);
        return record.until(`a victim among ${keys.join(', ')}`, hangsMs, () => {
          const isOfVictim = ({ reason, involvedObject }: (typeof record.events.changes)[number]['object']): boolean =>
            reason === 'Preempted' && keys.includes(`${involvedObject?.namespace}/${involvedObject?.name}`);
          return record.events.changes.some(({ object }) => isOfVictim(object)) ? undefined : 'there is none';
        });
      }
      case 'condition':
        return this.#untilCondition(step);
    }
  }

  #untilUnschedulable(keys: readonly string[]): Promise<void> {
    const { record } = this.#stage;
    return record.until(`${keys.join(', ')} are Unschedulable`, hangsMs, () => {
      const bound = keys.filter((key) => nodeOf(record, key) !== undefined);
      if (bound.length > 0) throw new Error(`${bound.join(', ')} are bound`);
      const others = keys.filter((key) => !carries(record, key, { reason: 'Unschedulable' }));
      return others.length === 0 ? undefined : describePods(record, others);
    });
  }

  async #untilCondition({
    group,
    status,
    reason,
  }: Extract<UpstreamStep, { readonly expect: 'condition' }>): Promise<void> {
    await poll(async () => {
      const found = await this.#stage.client.get<GroupSeen>(this.#groupPath(group));
      const condition = found.status?.conditions?.find(({ type }) => type === 'PodGroupInitiallyScheduled');
      return condition?.status === status && condition.reason === reason
        ? undefined
        : `it is ${JSON.stringify(condition)}`;
    }, `PodGroupInitiallyScheduled of ${group} is ${status}, ${reason}`);
  }

  async #createPod(name: string): Promise<void> {
    const { namespace, client } = this.#stage;
    const { group, nodeSelector, nodeName, ...spec } = this.#test.pods[name]!;
    const hostname = nodeSelector?.['kubernetes.io/hostname'];
    const own: PodSpec = {
      ...spec,
      ...(nodeName !== undefined && { nodeName: this.#nodes.get(nodeName) ?? nodeName }),
      ...(nodeSelector && { nodeSelector }),
      ...(hostname !== undefined && {
        nodeSelector: { ...nodeSelector, 'kubernetes.io/hostname': this.#nodes.get(hostname) ?? hostname },
      }),
    };
    await client.create(
      `/api/v1/namespaces/${namespace}/pods`,
      inGroup(podManifest(nameOf(name), namespace, own), group),
    );
  }

  /** Resolves when the scheduler has seen the PodGroups as they are: watches of two kinds have no common order. */
  async #groupsSeen(): Promise<void> {
    const { client, namespace, record } = this.#stage;
    const mark = { key: 'tutti-tests/seen', effect: 'NoSchedule' } as const;
    this.#seenOn ??= (await this.#stage.addNodes({ name: 'seen', allocatable: {}, taints: [mark] }))[0];
    const name = `seen-${this.#seen++}`;
    await client.create(this.#groupPath(), groupManifest(name, { priority: 'last' }));
    this.#groups.add(name);
    const pod = podManifest(name, namespace, {
      priority: 'last',
      tolerations: [{ ...mark, operator: 'Exists' }],
      nodeSelector: { 'kubernetes.io/hostname': this.#seenOn! },
    });
    await client.create(`/api/v1/namespaces/${namespace}/pods`, inGroup(pod, name));
    await expectBound(record, [`${namespace}/${name}`]);
  }

  #failBinding(pod: string): void {
    const path = `/pods/${nameOf(pod)}/binding`;
    this.proxy.fault = (request) => {
      if (request.method !== 'POST' || !request.path.split('?')[0]!.endsWith(path)) return undefined;
      this.proxy.fault = undefined;
      return statusAnswer(422, 'Invalid', 'rejected for a test');
    };
  }

  async #deleteGroup(group: string): Promise<void> {
    const { client } = this.#stage;
    const path = this.#groupPath(group);
    // Without kube-controller-manager, no component removes it.
    await client.patch(path, 'merge', { metadata: { finalizers: null } });
    await client.delete(path);
    this.#groups.delete(group);
  }

  #keys(pods: readonly string[]): string[] {
    return pods.map((name) => `${this.#stage.namespace}/${nameOf(name)}`);
  }

  #groupPath(name?: string): string {
    const groups = `/apis/scheduling.k8s.io/v1beta1/namespaces/${this.#stage.namespace}/podgroups`;
    return name === undefined ? groups : `${groups}/${name}`;
  }
}

interface GroupSeen {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

/** Returns the name of the object. */
function nameOf(name: string): string {
  return name.split('@')[0]!;
}

function inGroup(pod: object, podGroupName: string | undefined): object {
  if (podGroupName === undefined) return pod;
  const { spec } = pod as { readonly spec: object };
  return { ...pod, spec: { ...spec, schedulingGroup: { podGroupName } } };
}

function groupManifest(
  name: string,
  { minCount, priority = 'low', disruptionMode, topologyKey, preemptionPolicy }: NativeGroup,
): object {
  return {
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: { name },
    spec: {
      schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
      priorityClassName: priority,
      ...(preemptionPolicy !== undefined && { preemptionPolicy }),
      ...(disruptionMode !== undefined && { disruptionMode: { [disruptionMode]: {} } }),
      ...(topologyKey !== undefined && { schedulingConstraints: { topology: [{ key: topologyKey }] } }),
    },
  };
}
