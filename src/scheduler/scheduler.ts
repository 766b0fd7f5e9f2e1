import { listedAlike, listedPath, projectListed } from '../api/listed-object.ts';
import type { ListedKind, ListedObject } from '../api/listed-object.ts';
import type { Node } from '../api/node.ts';
import { podGroupPath } from '../api/pod-group.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { GangSpec } from '../cluster/gang-spec.ts';
import type { InformerHandler } from '../informer/informer-handler.ts';
import { logReflectorProblem } from '../informer/log-reflector-problem.ts';
import { NativePodGroupReflector } from '../informer/native-pod-group-reflector.ts';
import { registerCacheAge } from '../informer/cache-age.ts';
import { Reflector } from '../informer/reflector.ts';
import type { ReflectorProblem } from '../informer/reflector-problem.ts';
import type { Logger } from '../observability/logger.ts';
import type { ExplanationPart } from './explain/explainer.ts';
import type { SubjectName } from './explain/find-subject.ts';
import { withoutApi } from './intake/native-pod-group-adapter.ts';
import { projectionsFor } from './projections.ts';
import type { Projections } from './projections.ts';
import { SchedulerCore } from './scheduler-core.ts';
import type { SchedulerCoreOptions } from './scheduler-core.ts';
import type { SnapshotSource } from './snapshot/snapshot-source.ts';
import { workAtATime } from './cycle/work-at-a-time.ts';

export interface SchedulerOptions extends Omit<SchedulerCoreOptions, 'onReady'> {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  /** The administrator's maximum for the grace period of a group. The controller must have the same. Default 5 minutes. */
  readonly maxRepairGraceMs?: number | undefined;
  /** Called with every decoded node and its raw object, for callers that need fields that the core drops. */
  readonly nodeRead?: ((node: Node, raw: unknown) => void) | undefined;
}

interface ListedReflector {
  readonly kind: ListedKind;
  readonly reflector: Reflector<ListedObject>;
  /** Resolves if the API server does not serve the kind. */
  readonly absent: Deferred<void>;
}

/** The leader election of one replica. */
export interface Candidacy {
  /** Resolves when the first election attempt has ended: true if this replica leads. */
  readonly tried: () => Promise<boolean>;
  /** Resolves once this replica leads; rejects if it never will. */
  readonly elected: () => Promise<void>;
  /** Start the watches only after the election. A standby then uses less memory but takes longer to start scheduling. */
  readonly delayCacheUntilActive: boolean;
}

/** How long the loop runs attempts before it yields to watch changes. */
const stretchMs = 10;

/**
 * A core in a process: reflectors feed the cluster cache, and a loop runs attempts and yields to I/O. `start` resolves once the loop runs.
 * `stop` ends everything; no request outlives it. A standby only keeps its cache up to date. Once elected, it starts to schedule as soon
 * as the cache contains everything that consistent reads after the election returned.
 */
export class Scheduler {
  readonly #core: SchedulerCore;
  readonly #client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #defer: (callback: () => void) => void;
  readonly #workAtATime: number;
  readonly #reflectors: {
    readonly nodes: Reflector<Node>;
    readonly pods: Reflector<Pod>;
    readonly podGroups: Reflector<GangSpec>;
    readonly nativePodGroups: NativePodGroupReflector<GangSpec>;
  };
  readonly #listed: readonly ListedReflector[];
  readonly #podGroupsAbsent = deferred();
  readonly #synced = deferred();
  #looping = false;
  #hasSynced = false;
  /** Clock.monotonic() of the loop's latest turn, or of the moment when its work began. */
  #turnedAt: number;
  #standsByWithoutCache = false;

  constructor(options: SchedulerOptions) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#turnedAt = options.clock.monotonic();
    this.#random = options.random;
    this.#logger = options.logger;
    this.#defer = options.defer;
    this.#workAtATime = options.workAtATime ?? workAtATime;
    this.#core = new SchedulerCore({ ...options, onReady: () => this.#wake() });
    const { handlers } = this.#core;
    const projections = projectionsFor(this.#core, options.maxRepairGraceMs);
    this.#reflectors = {
      nodes: this.#reflector(
        '/api/v1/nodes',
        (raw) => {
          const node = projections.node(raw);
          options.nodeRead?.(node, raw);
          return node;
        },
        handlers.nodes,
      ),
      pods: this.#reflector('/api/v1/pods', projections.pod, handlers.pods),
      podGroups: this.#reflector(podGroupPath(), projections.podGroup, handlers.podGroups, (problem) =>
        this.#onPodGroupProblem(problem),
      ),
      nativePodGroups: this.#nativeReflector(projections.nativePodGroup),
    };
    this.#listed = [...this.#core.profiles.reads].map((kind) => this.#listedReflector(kind));
    const { nodes, pods, podGroups, nativePodGroups } = this.#reflectors;
    const listed = this.#listed.map(({ kind, reflector }) => [listedPath(kind).split('/').at(-1)!, reflector] as const);
    registerCacheAge(options.registry, {
      ...{ nodes, pods, podgroups: podGroups, 'podgroups.scheduling.k8s.io': nativePodGroups },
      ...Object.fromEntries(listed),
    });
  }

  /** Resolves once the cache has synced, this process leads (if it takes part in an election) and the loop runs. Rejects if stopped before. */
  async start(candidacy?: Candidacy): Promise<void> {
    const { nodes, pods, podGroups, nativePodGroups } = this.#reflectors;
    const leads = candidacy === undefined || (await candidacy.tried());
    const standsByWithCache = !leads && !candidacy.delayCacheUntilActive;
    if (!leads && !standsByWithCache) {
      this.#standsByWithoutCache = true;
      await candidacy.elected();
      this.#standsByWithoutCache = false;
    }
    nativePodGroups.start();
    for (const reflector of [nodes, pods, podGroups, ...this.#listed.map((listed) => listed.reflector)]) {
      reflector.start();
    }
    // Without the CRD there are no groups, and pods without a group need not wait for it.
    const withGroups = (groups: Promise<void>): Promise<void> => Promise.race([groups, this.#podGroupsAbsent.promise]);
    const ofListed = (wait: (reflector: Reflector<ListedObject>) => Promise<void>): Promise<void>[] =>
      this.#listed.map(({ reflector, absent }) => Promise.race([wait(reflector), absent.promise]));
    const withListed = ofListed((reflector) => reflector.synced());
    const groupsSynced = [withGroups(podGroups.synced()), nativePodGroups.synced()];
    await Promise.all([nodes.synced(), pods.synced(), ...groupsSynced, ...withListed]);
    this.#hasSynced = true;
    this.#synced.resolve();
    // A cache that was first listed after the election is already recent enough.
    if (standsByWithCache) {
      await candidacy.elected();
      const caughtUp = ofListed((reflector) => reflector.catchUp());
      const groupsCaughtUp = [withGroups(podGroups.catchUp()), nativePodGroups.catchUp()];
      await Promise.all([nodes.catchUp(), pods.catchUp(), ...groupsCaughtUp, ...caughtUp]);
    }
    this.#core.begin();
    const { cluster, profiles } = this.#core;
    this.#logger.info('scheduling', {
      schedulerNames: profiles.schedulerNames.join(','),
      nodes: cluster.nodes.length,
      pods: cluster.podCount,
    });
    this.#wake();
  }

  /** Returns whether the cache has synced once. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves once the cache has synced. */
  synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Returns whether the process waits to be elected before it fills the cache. */
  get standsByWithoutCache(): boolean {
    return this.#standsByWithoutCache;
  }

  /** Returns whether the loop runs on a synced cache. */
  get isReady(): boolean {
    return this.#core.isRunning;
  }

  /** See SchedulerCore.explain. */
  explain(name: SubjectName): Promise<ExplanationPart | undefined> {
    return this.#core.explain(name);
  }

  /** See SchedulerCore.takeSnapshot. */
  takeSnapshot(): Promise<SnapshotSource> {
    return this.#core.takeSnapshot();
  }

  /** A read-only view for diagnostics. Read it again after every await: the view is only valid until then. */
  get state(): Pick<SchedulerCore, 'cluster' | 'queue' | 'timeline' | 'verdictOf'> {
    this.#core.cluster.hidePlan();
    return this.#core;
  }

  /** Returns for how many milliseconds the loop's next turn is overdue; 0 while the loop has no work. */
  get overdueMs(): number {
    const hasWork = this.#looping || (this.#core.queue.sizes.active > 0 && !this.#core.isSettling);
    return this.isReady && hasWork ? this.#clock.monotonic() - this.#turnedAt : 0;
  }

  /** Stops the core as SchedulerCore.stop does, then the watches. Bindings are checked against the cache when they are sent, so it stays current until then. */
  async stop(options?: { readonly drainMs?: number }): Promise<boolean> {
    const { nodes, pods, podGroups, nativePodGroups } = this.#reflectors;
    const isIdle = await this.#core.stop(options);
    const listed = this.#listed.map(({ reflector }) => reflector.stop());
    await Promise.all([nodes.stop(), pods.stop(), podGroups.stop(), nativePodGroups.stop(), ...listed]);
    return isIdle;
  }

  #wake(): void {
    if (this.#looping || !this.isReady) return;
    this.#looping = true;
    this.#turnedAt = this.#clock.monotonic();
    this.#defer(() => this.#stretch());
  }

  #stretch(): void {
    this.#turnedAt = this.#clock.monotonic();
    const end = this.#turnedAt + stretchMs;
    do {
      const result = this.#core.attempt(this.#workAtATime);
      if (result === undefined) {
        this.#looping = false;
        return;
      }
      if (result.kind === 'paused') break;
    } while (this.#clock.monotonic() < end);
    this.#defer(() => this.#stretch());
  }

  /** Creates a reflector for a kind. If the API server does not serve the kind, the cluster has no objects of it. */
  #listedReflector(kind: ListedKind): ListedReflector {
    const absent = deferred();
    const reflector = this.#reflector(
      listedPath(kind),
      (raw) => projectListed(kind, raw),
      this.#core.handlers.listed,
      (problem) => {
        if (problem.kind === 'list' && problem.error instanceof NotFoundError) absent.resolve();
      },
      listedAlike,
    );
    return { kind, reflector, absent };
  }

  #reflector<T>(
    path: string,
    project: (raw: unknown) => T,
    handler: InformerHandler<T>,
    onProblem?: (problem: ReflectorProblem) => void,
    isSame?: (previous: T, object: T) => boolean,
  ): Reflector<T> {
    return new Reflector<T>({
      client: this.#client,
      clock: this.#clock,
      random: this.#random,
      path,
      project,
      handler,
      ...(isSame !== undefined && { isSame }),
      onProblem: (problem) => {
        logReflectorProblem(this.#logger, problem);
        onProblem?.(problem);
      },
    });
  }

  /** While the API server does not serve the kind, its groups are held back with a verdict. */
  #nativeReflector(project: Projections['nativePodGroup']): NativePodGroupReflector<GangSpec> {
    const { podGroups } = this.#core.handlers;
    const reflector = new NativePodGroupReflector<GangSpec>({
      ...{ client: this.#client, clock: this.#clock, random: this.#random, logger: this.#logger },
      project,
      handler: podGroups,
      onServed: (isServed) => {
        for (const spec of reflector.store.values()) podGroups.onUpdate(spec, isServed ? spec : withoutApi(spec));
      },
    });
    return reflector;
  }

  #onPodGroupProblem(problem: ReflectorProblem): void {
    if (problem.kind !== 'list' || !(problem.error instanceof NotFoundError)) return;
    if (problem.failures === 1) {
      this.#logger.error(
        'the PodGroup CRD is not installed: gangs wait and only pods without a group are scheduled; apply crds/',
        {},
      );
    }
    this.#podGroupsAbsent.resolve();
  }
}
