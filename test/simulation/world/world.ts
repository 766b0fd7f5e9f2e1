import { addCounts } from '../batch.ts';
import { hasEnded, isOpen, plainNode, plainPod } from '../checks/plain-objects.ts';
import { PlainCapacity } from '../checks/plain-fit.ts';
import { calmFrom, longestAttemptMs, nameOf } from '../scenario.ts';
import type { GroupPlan, Scenario, Step } from '../scenario.ts';
import type { Call } from './call.ts';
import { Disks } from './disks.ts';
import { Faults } from './faults.ts';
import { Kubelets } from './kubelets.ts';
import {
  budgetManifest,
  budgetsPath,
  groupPathOf,
  groupsPathIn,
  nodeManifest,
  nodesPath,
  podManifest,
  podsPath,
  podsPathIn,
  priorities,
  prioritiesPath,
  priorityManifest,
  resized,
  tenantNamespace,
} from './manifests.ts';
import { Network } from './network.ts';
import type { CallObserver } from './network.ts';
import { Plane } from './plane.ts';
import { SimulatedProcess, startMs } from './process.ts';
import type { Role } from './process.ts';
import { simulatedLogger } from './simulated-logger.ts';
import { startController } from './start-controller.ts';
import { foreignName, schedulerName, startScheduler } from './start-scheduler.ts';
import type { LoggedLine, RunningScheduler, StartedScheduler } from './start-scheduler.ts';
import { Tenant } from './tenant.ts';
import { Timeline } from './timeline.ts';
import { Workloads } from './workloads.ts';

export interface WorldOptions {
  readonly scenario: Scenario;
  readonly observer: CallObserver;
  /** Gets a line for each event, to inspect one run. */
  readonly trace?: ((line: string) => void) | undefined;
  /** Gets each scheduler that starts. */
  readonly started?: StartedScheduler | undefined;
  /** Gets the log lines of the schedulers. */
  readonly logged?: LoggedLine | undefined;
}

/** Default time for a process that crashed or lost its Lease to restart. */
const restartMs = 1_000;

/** Runs one scenario: the plane, the nodes, the owners of pods and the processes of the product, on one timeline. */
export class World {
  readonly timeline = new Timeline();
  readonly plane: Plane;
  readonly faults: Faults;
  /** When the last step and outage of the scenario are over. */
  readonly calmFrom: number;
  /** strategy -> number of plans of gangs that it made and that were bound */
  readonly placedBy: Record<string, number> = {};
  readonly #options: WorldOptions;
  readonly #disks: Disks;
  readonly #tenant: Tenant;
  readonly #workloads: Workloads;
  readonly #kubelets: Kubelets;
  /** All processes started so far, newest last. */
  readonly #processes: SimulatedProcess[] = [];
  readonly #schedulers: RunningScheduler[] = [];
  readonly #instances: Record<Role, number> = { scheduler: 0, controller: 0 };
  /** End of the latest pause or absence of a process. */
  #disturbedUntil = 0;
  #foreign = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    const { scenario } = options;
    const { seed } = scenario;
    const { timeline } = this;
    this.calmFrom = calmFrom(scenario);
    this.plane = new Plane(timeline, seed);
    this.faults = new Faults(scenario, this.calmFrom);
    this.#kubelets = new Kubelets({
      ...{ plane: this.plane, timeline, seed },
      tellsStarts: scenario.scheduler.reservations !== undefined,
    });
    this.#tenant = new Tenant({ plane: this.plane, timeline });
    this.#disks = new Disks({ plane: this.plane, timeline, seed });
    this.#workloads = new Workloads({ plane: this.plane, timeline, seed, disks: this.#disks });
  }

  /** Time after which nothing disturbs the cluster any more. */
  get disturbedUntil(): number {
    return Math.max(this.calmFrom, this.faults.lastAt, this.#disturbedUntil);
  }

  /** Time after which no fault strikes and no process is away any more, as far as it is known now. */
  get undisturbedFrom(): number {
    return Math.max(this.faults.lastAt, this.#disturbedUntil);
  }

  /** Latest time at which a node rejects a bound pod or ends one, or an owner recreates a lost one, as far as it is known now. */
  get reactsUntil(): number {
    return Math.max(this.#kubelets.reactsUntil, this.#workloads.recreatesUntil);
  }

  /** Start of the process that has run longest of those that run now; now if none does. */
  oldestStart(role: Role): number {
    return this.#first(role)?.startedAt ?? this.timeline.now;
  }

  async open(): Promise<void> {
    const { scenario, trace } = this.#options;
    if (trace !== undefined) {
      this.plane.subscribe(({ at, type, resource, key, by, object }) => {
        trace(`${at.toFixed(0)} ${by} ${type} ${resource} ${key} ${outline(object)}`);
      });
    }
    await this.plane.open();
    for (const priority of priorities) {
      for (const never of [false, true])
        await this.plane.ask('POST', prioritiesPath, priorityManifest(priority, never));
    }
    await this.#disks.open();
    await this.plane.ask('POST', '/api/v1/namespaces', { metadata: { name: tenantNamespace } });
    for (const node of scenario.nodes) await this.plane.ask('POST', nodesPath, nodeManifest(node));
    for (const step of scenario.steps) this.timeline.at(step.at, () => this.#take(step));
    for (let i = 0; i < scenario.scheduler.instances; i++) this.#start('scheduler');
    if (scenario.hasController) this.#start('controller');
  }

  /** Runs until the given time. Returns false when `isOver` ends it first or it exceeds the number of turns. */
  async runUntil(ms: number, maxTurns: number, isOver: () => boolean): Promise<boolean> {
    while (await this.timeline.turn(ms)) if (isOver() || this.timeline.count > maxTurns) return false;
    return !isOver();
  }

  /** Returns the sum over all schedulers started so far. */
  async attempts(): Promise<number> {
    let attempts = 0;
    for (const scheduler of this.#schedulers) attempts += await scheduler.attempts();
    return attempts;
  }

  /** Returns what happened to reservations with a predicted start. */
  async turns(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    if (this.#options.scenario.scheduler.reservations === undefined) return counts;
    for (const scheduler of this.#schedulers) addCounts(counts, await scheduler.turns());
    return counts;
  }

  /**
   * While any pod waits, changes fields that scheduling ignores: of every node, of the waiting pods and of all groups. It simulates
   * heartbeats and writes of other components.
   */
  pokeWaiting(): void {
    const { plane } = this;
    const waiting = [...plane.record.all('pods')].filter((object) => isOpen(plainPod(object)));
    if (waiting.length === 0) return;
    const beat = { metadata: { annotations: { 'simulation.example/beat': String(this.timeline.now) } } };
    const poke = (pathOf: (namespace: string) => string, objects: Iterable<any>): void => {
      for (const { metadata } of objects) plane.send('PATCH', `${pathOf(metadata.namespace)}/${metadata.name}`, beat);
    };
    poke(() => nodesPath, plane.record.all('nodes'));
    // An extender may read any field of a pod, so each change of a pod retries it.
    if (this.#options.scenario.extender === undefined) poke(podsPathIn, waiting);
    poke((namespace) => groupsPathIn(namespace, false), plane.record.all('podgroups'));
    poke((namespace) => groupsPathIn(namespace, true), plane.record.all('nativepodgroups'));
  }

  close(): void {
    for (const process of this.#processes) process.crash();
    this.plane.close();
  }

  #start(role: Role): void {
    const { scenario, trace, observer } = this.#options;
    const { timeline, plane, faults } = this;
    const { seed, network: plan } = scenario;
    const process = new SimulatedProcess({ role, instance: ++this.#instances[role], seed, timeline });
    this.#processes.push(process);
    const tracingObserver: CallObserver = {
      sent: (call) => {
        trace?.(`${timeline.now.toFixed(0)} ${process.name} sends ${call.request.method} ${call.request.path}`);
        observer.sent(call);
      },
      done: (call: Call) => {
        trace?.(
          `${timeline.now.toFixed(0)} ${process.name} ${call.status} ${call.request.method} ${call.request.path}`,
        );
        observer.done(call);
      },
    };
    const transport = new Network(process, {
      plan,
      seed,
      timeline,
      plane,
      faults,
      observer: tracingObserver,
      heededAfterMs: role === 'scheduler' && scenario.scheduler.workAtATime !== undefined ? longestAttemptMs : 0,
      forbiddenNode: scenario.forbiddenNode,
      forbiddenPods: scenario.forbiddenPods,
    });
    const logger = simulatedLogger(
      (message, { strategy }) => {
        if (message === 'scheduled' && typeof strategy === 'string') addCounts(this.placedBy, { [strategy]: 1 });
      },
      trace && ((line) => trace(`${timeline.now.toFixed(0)} ${process.name} says ${line}`)),
    );
    const lost = (): void => process.crash('lost its Lease');
    process.onEnd(() => {
      trace?.(`${timeline.now.toFixed(0)} ${process.name} is gone`);
      const isBack = this.#processes.some((other) => other.role === role && other.isAlive && other !== process);
      const wanted = role === 'scheduler' ? scenario.scheduler.instances : 1;
      const alive = this.#processes.filter((other) => other.role === role && other.isAlive).length;
      if (!isBack || alive < wanted) this.#startIn(role, this.#downMs);
    });
    if (role === 'scheduler') {
      const { scheduler: plan, extender } = scenario;
      this.#schedulers.push(
        startScheduler(process, {
          plan,
          extender,
          transport,
          logger,
          lost,
          started: this.#options.started,
          logged: this.#options.logged,
        }),
      );
    } else startController(process, { elects: scenario.scheduler.elects, transport, logger, lost });
  }

  #downMs = restartMs;

  #startIn(role: Role, ms: number): void {
    this.#disturb(ms);
    this.timeline.after(ms, () => this.#start(role));
  }

  #disturb(ms: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, this.timeline.now + ms);
  }

  /** Returns the oldest instance, which is usually the leader. */
  #first(role: Role): SimulatedProcess | undefined {
    return this.#processes.find((process) => process.role === role && process.isAlive);
  }

  #take(step: Step): void {
    const { trace } = this.#options;
    trace?.(`${this.timeline.now.toFixed(0)} step ${JSON.stringify(step)}`);
    this.faults.note(nameOf(step));
    const { plane, timeline } = this;
    const workloads = this.#workloads;
    switch (step.kind) {
      case 'create-group':
        workloads.create(step.group);
        return;
      case 'create-pod':
        plane.send('POST', podsPath, podManifest(step.name, step.pod, { schedulerName, priority: step.priority }));
        return;
      case 'resize-group':
        this.#onGroup(step.group, (path, plan) => {
          const change = resized(plan, step.minMember);
          if (change !== undefined) plane.send('PATCH', path, change);
        });
        return;
      case 'delete-group':
        this.#onGroup(step.group, (path) => plane.send('DELETE', path));
        if (step.withMembers) workloads.end(step.group);
        return;
      case 'remake-group':
        workloads.remake(step.group);
        return;
      case 'delete-member':
        this.#onMember(step, (path) => plane.send('DELETE', path));
        return;
      case 'relabel-member':
        this.#onMember(step, (path) => {
          plane.send('PATCH', path, { metadata: { labels: { 'scheduling.x-k8s.io/pod-group': step.to } } });
        });
        return;
      case 'ungate':
        for (const pod of workloads.membersOf(step.group)) {
          if (pod.isGated) plane.send('PATCH', `${podsPath}/${pod.name}`, { spec: { schedulingGates: null } });
        }
        return;
      case 'finish-member':
        this.#onMember(step, (path, pod) => {
          if (pod.node !== '') plane.send('PATCH', `${path}/status`, { status: { phase: step.phase } });
        });
        return;
      case 'nominate':
        this.#onMember(step, (path, pod) => {
          const nominatedNodeName = step.node === '' ? null : step.node;
          if (pod.node === '') plane.send('PATCH', `${path}/status`, { status: { nominatedNodeName } });
        });
        return;
      case 'resize-pod':
        this.#onMember(step, (path, pod) => {
          if (pod.node === '' || hasEnded(pod)) return;
          const requests = { cpu: `${step.milliCpu}m`, memory: `${pod.mebibytes}Mi` };
          plane.send('PATCH', `${path}/status`, {
            status: {
              containerStatuses: [
                {
                  name: 'main',
                  image: 'main',
                  imageID: '',
                  ready: true,
                  restartCount: 0,
                  allocatedResources: requests,
                  resources: { requests },
                },
              ],
            },
          });
        });
        return;
      case 'foreign-pod':
        this.#runForeign(step);
        return;
      case 'node-gone':
        plane.send('DELETE', `${nodesPath}/${step.node}`);
        this.#kubelets.sleep(step.node);
        timeline.after(Math.min(5_000, step.forMs), () => this.#kubelets.collect(step.node));
        timeline.after(step.forMs, () => this.#bringBack(step.node));
        return;
      case 'node-unready':
        this.#kubelets.sleep(step.node);
        plane.send('PATCH', `${nodesPath}/${step.node}`, { spec: { taints: unreachable } });
        timeline.after(Math.min(5_000, step.forMs / 2), () => this.#kubelets.evict(step.node));
        timeline.after(step.forMs, () => {
          plane.send('PATCH', `${nodesPath}/${step.node}`, { spec: { taints: null } });
          this.#kubelets.wake(step.node);
        });
        return;
      case 'node-cordoned':
        plane.send('PATCH', `${nodesPath}/${step.node}`, { spec: { unschedulable: true } });
        timeline.after(step.forMs, () => {
          plane.send('PATCH', `${nodesPath}/${step.node}`, { spec: { unschedulable: null } });
        });
        return;
      case 'node-hangs':
        this.#kubelets.sleep(step.node);
        timeline.after(step.forMs, () => this.#kubelets.wake(step.node));
        return;
      case 'set-budget':
        plane.send('POST', budgetsPath, budgetManifest(step.name));
        plane.send('PATCH', `${budgetsPath}/${step.name}/status`, { status: { disruptionsAllowed: step.allowed } });
        return;
      case 'forge-mark':
        this.#onMember(step, (path) => {
          // A mark during the first Bindings of a group would keep it from starting.
          if (workloads.membersOf(step.group).every(({ node }) => node !== ''))
            plane.send('PATCH', `${path}/status`, { status: { conditions: [forgedMark] } });
        });
        return;
      case 'node-rejects':
        this.#kubelets.reject(step.node, step.pods);
        return;
      case 'node-shrinks':
        this.#setCpu(step.node, step.milliCpu);
        timeline.after(step.forMs, () => this.#setCpu(step.node, this.#planOf(step.node)?.milliCpu ?? 0));
        return;
      case 'crash':
        this.#downMs = step.downMs;
        this.#first(step.role)?.crash();
        this.#downMs = restartMs;
        return;
      case 'pause':
        this.#disturb(step.forMs);
        this.#first(step.role)?.pause(step.forMs);
        return;
      case 'clock-jump':
        this.#first(step.role)?.jumpWallClock(step.ms);
        return;
      case 'tenant':
        this.#tenant.play(step.plan);
        return;
      case 'native-api-gone':
        plane.serveNativeGroups(false);
        timeline.after(step.forMs, () => plane.serveNativeGroups(true));
        return;
      case 'forget-history':
        plane.forgetHistory();
        plane.endWatches();
        return;
      case 'end-watches':
        plane.endWatches();
    }
  }

  #onGroup(group: string, act: (path: string, plan: GroupPlan) => void): void {
    const plan = this.#workloads.planOf(group);
    if (plan !== undefined) act(groupPathOf(plan), plan);
  }

  #onMember(
    { group, member }: { readonly group: string; readonly member: number },
    act: (path: string, pod: ReturnType<typeof plainPod>) => void,
  ): void {
    const pod = this.#workloads.member(group, member);
    if (pod !== undefined) act(`${podsPath}/${pod.name}`, pod);
  }

  #planOf(name: string): Scenario['nodes'][number] | undefined {
    return this.#options.scenario.nodes.find((node) => node.name === name);
  }

  #bringBack(name: string): void {
    const plan = this.#planOf(name);
    if (plan !== undefined) this.plane.send('POST', nodesPath, nodeManifest(plan));
    this.#kubelets.wake(name);
  }

  #setCpu(name: string, milliCpu: number): void {
    this.plane.send('PATCH', `${nodesPath}/${name}/status`, {
      status: { allocatable: { cpu: `${milliCpu}m` }, capacity: { cpu: `${milliCpu}m` } },
    });
  }

  /** Another scheduler binds a pod where it fits by the API. */
  #runForeign({ node, milliCpu, forMs, stays }: Extract<Step, { kind: 'foreign-pod' }>): void {
    const { plane } = this;
    const nodeObject = plane.record.get('nodes', `/${node}`);
    if (nodeObject === undefined) return;
    const name = `foreign-${++this.#foreign}`;
    const { zone, isReserved } = plainNode(nodeObject);
    const member = { milliCpu, mebibytes: 1, ...(isReserved && zone !== undefined && { zone }) };
    const manifest: any = podManifest(name, member, { schedulerName: foreignName, priority: 0 });
    const there = [...plane.record.all('pods')].map(plainPod).filter((pod) => pod.node === node && !hasEnded(pod));
    const capacity = new PlainCapacity(
      [plainNode(nodeObject)],
      there.map((pod) => [pod, node] as const),
    );
    const pod = plainPod({
      ...manifest,
      metadata: { ...manifest.metadata, namespace: 'default', uid: '', resourceVersion: '0' },
    });
    if (!capacity.takes(pod, node)) return;
    manifest.spec.nodeName = node;
    plane.send('POST', podsPath, manifest);
    if (stays !== true) this.timeline.after(forMs, () => plane.send('DELETE', `${podsPath}/${name}`));
  }
}

/** As if the scheduler preempted the pod. */
const forgedMark = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
  message: `${schedulerName}: preempting to accommodate a higher priority pod (default/nobody)`,
  lastTransitionTime: new Date(startMs).toISOString().replace('.000', ''),
};

const unreachable = [
  { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
];

function outline({ spec, status, metadata }: any): string {
  const condition = status?.conditions?.find(({ type }: any) => type === 'PodScheduled');
  return JSON.stringify({
    node: spec?.nodeName,
    min: spec?.minMember,
    phase: status?.phase,
    leaving: metadata?.deletionTimestamp !== undefined || undefined,
    scheduled: condition && `${condition.status} ${condition.reason}: ${condition.message}`,
    plan: metadata?.annotations?.['tutti.dev/plan'],
    holder: spec?.holderIdentity,
  });
}
