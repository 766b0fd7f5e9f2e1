import type { Node } from '../api/node.ts';
import { projectNode } from '../api/node.ts';
import { podGroupPath, projectPodGroup } from '../api/pod-group.ts';
import { isTerminal, PodProjector } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import { ResourceNames } from '../api/resource-names.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { NotFoundError } from '../client/api-errors.ts';
import { EventRecorder } from '../client/event-recorder.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Gang, GangSpec } from '../cluster/gang.ts';
import { EventHints } from '../framework/event-hints.ts';
import type { Candidate } from '../framework/plugin.ts';
import { Profile } from '../framework/profile.ts';
import type { EnabledPlugin, PluginRegistry } from '../framework/profile.ts';
import { Status } from '../framework/status.ts';
import { WaitingPods } from '../framework/waiting-pods.ts';
import type { InformerHandler } from '../informer/informer-handler.ts';
import { logReflectorProblem } from '../informer/log-reflector-problem.ts';
import { Reflector } from '../informer/reflector.ts';
import type { ReflectorProblem } from '../informer/reflector-problem.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import { SchedulingQueue } from '../queue/scheduling-queue.ts';
import { ApiPodBinder } from './api-pod-binder.ts';
import { BindingCycle } from './binding-cycle.ts';
import { BindingOutcomes } from './binding-outcomes.ts';
import type { BindingPlan } from './binding-plan.ts';
import { EntityRouter } from './entity-router.ts';
import { Planner } from './placement/planner.ts';
import type { Placement } from './placement/planner.ts';
import { MembershipWarnings } from './membership-warnings.ts';
import { NotReadyVerdicts } from './not-ready-verdicts.ts';
import { gangSpecOf } from './pod-group-adapter.ts';
import { SchedulerMetrics } from './scheduler-metrics.ts';
import { SchedulingCycle } from './scheduling-cycle.ts';
import type { CycleResult } from './scheduling-cycle.ts';
import { sortKeyOf } from './sort-key.ts';
import { VerdictWriter } from './verdict-writer.ts';
import { WatchHandlers } from './watch-handlers.ts';

export interface SchedulerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  /** The schedulerNames that this process serves; all with the same plugins. At least one. */
  readonly schedulerNames: readonly string[];
  readonly plugins: PluginRegistry;
  readonly enabled: readonly EnabledPlugin[];
  /** Tells this process from others in Events. */
  readonly identity: string;
  /** Runs the callback after pending I/O has been served: setImmediate in a process. */
  readonly defer: (callback: () => void) => void;
}

/** How long one stretch of cycles may keep watch changes waiting. */
const stretchMs = 10;

/**
 * The scheduler process: informers feed the picture and the queue, the loop pops entities and runs their cycles, plans are
 * bound, verdicts written. `start` resolves when it schedules; `stop` ends everything and lets no call outlive it.
 */
export class Scheduler {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly #options: SchedulerOptions;
  readonly #logger: Logger;
  /** schedulerName -> its plugins */
  readonly #profiles = new Map<string, Profile>();
  /** profile -> its plugins' registrations */
  readonly #hints = new Map<Profile, EventHints>();
  readonly #waitingPods: WaitingPods;
  readonly #router: EntityRouter;
  readonly #cycle: SchedulingCycle;
  readonly #binding: BindingCycle;
  readonly #verdicts: VerdictWriter;
  readonly #notReady: NotReadyVerdicts;
  readonly #membershipWarnings: MembershipWarnings;
  readonly #events: EventRecorder;
  readonly #metrics: SchedulerMetrics;
  readonly #reflectors: {
    readonly nodes: Reflector<Node>;
    readonly pods: Reflector<Pod>;
    readonly podGroups: Reflector<GangSpec>;
  };
  readonly #stop = new AbortController();
  readonly #podGroupsAbsent = deferred();
  #synced = false;
  #looping = false;
  #plans = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#logger = options.logger;
    const { client, clock, random } = options;
    const names = new ResourceNames();
    this.cluster = new Cluster(names);
    const waitingPods = new WaitingPods(clock);
    this.#waitingPods = waitingPods;
    const binder = new ApiPodBinder({ client, clock, random });
    for (const schedulerName of options.schedulerNames) {
      const handle = { schedulerName, clock, cluster: this.cluster, waitingPods, binder };
      const profile = new Profile({
        schedulerName,
        enabled: options.enabled,
        registry: options.plugins,
        handle,
      });
      this.#profiles.set(schedulerName, profile);
      this.#hints.set(profile, new EventHints(profile));
    }
    this.queue = new SchedulingQueue({
      clock,
      policy: {
        compare: (a, b) => this.#firstProfile.compare(a, b),
        preEnqueue: (candidate) => this.#profileOf(candidate).preEnqueue(candidate),
        hints: (candidate) => this.#hints.get(this.#profileOf(candidate))!,
        sortKey: sortKeyOf,
        ignores: (event) => this.#hints.get(this.#firstProfile)!.ignores(event),
      },
      observer: {
        ready: () => this.#wake(),
        gated: (entity, status) => this.#notReady.gated(entity, status),
        moved: (queue, event) => this.#metrics.incoming.inc({ queue, event }),
      },
    });
    this.#metrics = new SchedulerMetrics(options.registry, {
      queue: () => this.#pendingPods(),
      flushed: () => this.queue.flushed,
      nodes: () => this.cluster.nodes.length,
      pods: () => this.cluster.podCount,
      assumed: () => this.cluster.assumedCount,
    });
    const isOurs = (schedulerName: string): boolean => this.#profiles.has(schedulerName);
    this.#router = new EntityRouter({
      cluster: this.cluster,
      queue: this.queue,
      isOurs,
      decidesGangs: this.#firstProfile.gangPolicy !== undefined,
    });
    const planner = new Planner(this.cluster, random);
    this.#cycle = new SchedulingCycle({ cluster: this.cluster, planner, waitingPods, clock });
    this.#events = new EventRecorder({
      client,
      clock,
      reportingController: this.#firstProfile.schedulerName,
      reportingInstance: options.identity,
      onError: (error) => this.#logger.debug('could not write an event', { error }),
    });
    this.#verdicts = new VerdictWriter({
      client,
      events: this.#events,
      clock,
      random,
      logger: options.logger,
      openPod: (uid) => this.#openPod(uid),
      signal: this.#stop.signal,
    });
    this.#notReady = new NotReadyVerdicts({ queue: this.queue, verdicts: this.#verdicts, clock, isOurs });
    this.#membershipWarnings = new MembershipWarnings(this.#events);
    const outcomes = new BindingOutcomes({
      cluster: this.cluster,
      queue: this.queue,
      router: this.#router,
      verdicts: this.#verdicts,
      events: this.#events,
      metrics: this.#metrics,
      clock,
      logger: options.logger,
      openPod: (uid) => this.#openPod(uid),
      signal: this.#stop.signal,
    });
    this.#binding = new BindingCycle({
      report: (result) => outcomes.handle(result),
      stillFits: (plan, placement) => this.#stillFits(plan, placement),
      planId: () => `${options.identity}-${++this.#plans}`,
      signal: this.#stop.signal,
    });
    const handlers = new WatchHandlers({
      cluster: this.cluster,
      queue: this.queue,
      router: this.#router,
      clock,
      hasSynced: () => this.#synced,
      podSeen: (uid, pod) => this.#podSeen(uid, pod),
    });
    const projector = new PodProjector(names);
    this.#reflectors = {
      nodes: this.#reflector('/api/v1/nodes', (raw) => projectNode(raw, names), handlers.nodes),
      pods: this.#reflector('/api/v1/pods', (raw) => projector.project(raw), handlers.pods),
      podGroups: this.#reflector(
        podGroupPath(),
        (raw) => gangSpecOf(projectPodGroup(raw), names),
        handlers.podGroups,
        (problem) => this.#onPodGroupProblem(problem),
      ),
    };
  }

  /** Resolves when the picture is complete and the loop runs. Rejects when stopped before. */
  async start(): Promise<void> {
    const { nodes, pods, podGroups } = this.#reflectors;
    for (const reflector of [nodes, pods, podGroups]) reflector.start();
    // Without the CRD there are no groups, and lone pods need not wait for it.
    await Promise.all([
      nodes.synced(),
      pods.synced(),
      Promise.race([podGroups.synced(), this.#podGroupsAbsent.promise]),
    ]);
    this.#synced = true;
    this.#router.routeAll();
    for (const pod of this.cluster.pods()) this.#podSeen(pod.uid, pod);
    this.queue.start();
    this.#logger.info('scheduling', {
      schedulerNames: this.#options.schedulerNames.join(','),
      nodes: this.cluster.nodes.length,
      pods: this.cluster.podCount,
    });
    this.#wake();
  }

  /** Whether the loop runs on a complete picture. */
  get isReady(): boolean {
    return this.#synced && !this.#stop.signal.aborted;
  }

  /** Gives up what is under way, bindings included; resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the scheduler is stopping'));
    this.queue.stop();
    this.#notReady.stop();
    this.#events.stop();
    const { nodes, pods, podGroups } = this.#reflectors;
    await Promise.all([nodes.stop(), pods.stop(), podGroups.stop(), this.#binding.idle()]);
  }

  // The loop

  #wake(): void {
    if (this.#looping || !this.isReady) return;
    this.#looping = true;
    this.#options.defer(() => this.#stretch());
  }

  #stretch(): void {
    const end = this.#options.clock.monotonic() + stretchMs;
    do {
      const entity = this.isReady ? this.queue.pop() : undefined;
      if (entity === undefined) {
        this.#looping = false;
        return;
      }
      this.#attempt(entity);
    } while (this.#options.clock.monotonic() < end);
    this.#options.defer(() => this.#stretch());
  }

  #attempt(entity: QueuedEntity): void {
    const { clock } = this.#options;
    const profile = this.#profileOf(entity.candidate);
    const startedAt = clock.monotonic();
    const result = this.#cycle.run(entity, profile);
    this.#metrics.algorithmDuration.observe((clock.monotonic() - startedAt) / 1000);
    this.#conclude(entity, profile, result, startedAt);
  }

  #conclude(entity: QueuedEntity, profile: Profile, result: CycleResult, startedAt: number): void {
    switch (result.kind) {
      case 'settled':
        this.queue.done(entity);
        this.#route(entity.candidate, 'Settled');
        return;
      case 'notReady':
        this.queue.notReady(entity);
        return;
      case 'planned':
        this.queue.done(entity);
        this.#route(entity.candidate, 'Planned');
        this.#binding.start(result.plan);
        return;
      case 'refused':
        this.#metrics.attempted({
          candidate: entity.candidate,
          profile: profile.schedulerName,
          result: result.failure.error ? 'error' : 'unschedulable',
          pods: result.pods.length,
          seconds: (this.#options.clock.monotonic() - startedAt) / 1000,
        });
        this.queue.failed(entity, result.failure);
        this.#verdicts.report(result.pods, result.verdict);
        this.#logger.debug('unschedulable', { entity: entity.key, message: result.verdict.message });
        return;
    }
  }

  #stillFits(plan: BindingPlan, { pod, nodeName, state }: Placement): Status | undefined {
    if (!this.cluster.isAssumed(pod.uid)) {
      return new Status('Unschedulable', `pod ${pod.key} was deleted or bound elsewhere`);
    }
    const node = this.cluster.node(nodeName);
    const transaction = this.cluster.begin();
    try {
      if (node === undefined) return new Status('Unschedulable', `node ${nodeName} is gone`);
      transaction.takeOut(this.cluster.pod(pod.uid) ?? pod, node);
      const { localFilters, globalFilters } = plan.profile;
      return (
        plan.profile.filter(localFilters, state, pod, node) ?? plan.profile.filter(globalFilters, state, pod, node)
      );
    } finally {
      transaction.rollback();
    }
  }

  #podSeen(uid: string, pod: Pod | undefined): void {
    this.#verdicts.podSeen(uid);
    if (!this.cluster.isAssumed(uid)) this.#waitingPods.get(uid)?.reject('', 'the pod was deleted or bound elsewhere');
    if (pod === undefined) this.#membershipWarnings.podGone(uid);
    else if (this.#profiles.has(pod.schedulerName)) this.#membershipWarnings.podSeen(pod);
  }

  // Small things

  #reflector<T>(
    path: string,
    project: (raw: unknown) => T,
    handler: InformerHandler<T>,
    onProblem?: (problem: ReflectorProblem) => void,
  ): Reflector<T> {
    const { client, clock, random } = this.#options;
    return new Reflector<T>({
      client,
      clock,
      random,
      path,
      project,
      handler,
      onProblem: (problem) => {
        logReflectorProblem(this.#logger, problem);
        onProblem?.(problem);
      },
    });
  }

  #onPodGroupProblem(problem: ReflectorProblem): void {
    if (problem.kind !== 'list' || !(problem.error instanceof NotFoundError)) return;
    if (problem.failures === 1) {
      this.#logger.error('the PodGroup CRD is not installed: groups wait, lone pods are scheduled; apply crds/', {});
    }
    this.#podGroupsAbsent.resolve();
  }

  #route(candidate: Candidate, event: string): void {
    const now = this.#options.clock.now();
    if (candidate.kind === 'gang') this.#router.groupChanged(candidate.gang.key, event, now);
    else this.#router.podChanged(candidate.pod, event, now);
  }

  #openPod(uid: string): Pod | undefined {
    const pod = this.cluster.pod(uid);
    if (pod?.nodeName !== '' || pod.deleting || isTerminal(pod)) return undefined;
    return this.cluster.isAssumed(uid) ? undefined : pod;
  }

  get #firstProfile(): Profile {
    return this.#profiles.get(this.#options.schedulerNames[0]!)!;
  }

  #profileOf(candidate: Candidate): Profile {
    const name = candidate.kind === 'pod' ? candidate.pod.schedulerName : this.#router.schedulerNameOf(candidate.gang);
    return this.#profiles.get(name ?? '') ?? this.#firstProfile;
  }

  #pendingPods(): Record<'active' | 'backoff' | 'unschedulable' | 'gated', number> {
    const counts = { active: 0, backoff: 0, unschedulable: 0, gated: 0 };
    for (const { state, candidate } of this.queue.entities()) {
      if (state.kind === 'inFlight') continue;
      counts[state.kind] += candidate.kind === 'pod' ? 1 : unboundMembers(candidate.gang);
    }
    return counts;
  }
}

function unboundMembers(gang: Gang): number {
  return gang.count('pending') + gang.count('gated');
}
