import { nativeGroup, nativePodGroupPath, nativeVersions, projectNativePodGroup } from '../api/native-pod-group.ts';
import type { NativePodGroup, NativeVersion } from '../api/native-pod-group.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { ForbiddenError, NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { InformerHandler } from './informer-handler.ts';
import { logReflectorProblem } from './log-reflector-problem.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorProblem } from './reflector-problem.ts';
import type { Lister } from './store.ts';

export interface NativePodGroupReflectorOptions<T> {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** As in ReflectorOptions. */
  readonly project: (group: NativePodGroup) => T;
  readonly handler: InformerHandler<T>;
  /**
   * The API server no longer serves the kind, or serves it again. While it does not, the store keeps the groups as they were. Called
   * after the first list has been delivered, and after the list that follows an absence.
   */
  readonly onServed?: (isServed: boolean) => void;
}

/** What the API server last showed: `unknown` until the first list or its failure. */
type State = 'unknown' | 'absent' | 'served';

const callTimeoutMs = 30_000;

/**
 * Keeps a store equal to the PodGroups of `scheduling.k8s.io`. A server may not serve them, may serve them later or no longer, and may serve
 * only an older version. Each such change is one log line. It looks for the kind again after each failed list, so at least twice a minute.
 */
export class NativePodGroupReflector<T> {
  readonly #options: NativePodGroupReflectorOptions<T>;
  readonly #reflector: Reflector<T>;
  readonly #stop = new AbortController();
  #version: NativeVersion = nativeVersions[0];
  #state: State = 'unknown';
  /** Resolves when the server turns out not to serve the kind; replaced when it serves it again. */
  #absent = deferred();
  #discovery: Promise<void> | undefined;

  constructor(options: NativePodGroupReflectorOptions<T>) {
    const { client, clock, random, namespace, labelSelector, project, handler } = options;
    this.#options = options;
    this.#reflector = new Reflector<T>({
      ...{ client, clock, random },
      path: () => nativePodGroupPath(this.#version, namespace),
      ...(labelSelector !== undefined && { labelSelector }),
      project: (raw) => project(projectNativePodGroup(raw)),
      handler: {
        onAdd: (object) => handler.onAdd(object),
        onUpdate: (previous, object) => handler.onUpdate(previous, object),
        onDelete: (last, isFinalStateUnknown) => handler.onDelete(last, isFinalStateUnknown),
        onListing: () => handler.onListing?.(),
        onSynced: () => {
          handler.onSynced?.();
          this.#listed();
        },
        onReplaced: () => {
          handler.onReplaced?.();
          this.#listed();
        },
      },
      onProblem: (problem) => this.#onProblem(problem),
    });
  }

  get store(): Lister<T> {
    return this.#reflector.store;
  }

  /** The version that is served now; undefined while the kind is not, or not known to be. */
  get version(): NativeVersion | undefined {
    return this.#state === 'served' ? this.#version : undefined;
  }

  /** Whether the first list has been delivered, or the server does not serve the kind. */
  get hasSynced(): boolean {
    return this.#reflector.hasSynced || this.#state === 'absent';
  }

  /** As in Reflector. Undefined while the server does not serve the kind: then no data is expected. */
  get silentMs(): number | undefined {
    return this.#state === 'absent' ? undefined : this.#reflector.silentMs;
  }

  start(): void {
    this.#reflector.start();
  }

  /** Resolves once the first list has been delivered, or the server does not serve the kind. Rejects if it is stopped first. */
  synced(): Promise<void> {
    return Promise.race([this.#reflector.synced(), this.#absent.promise]);
  }

  /** As in Reflector; also resolves if the server does not serve the kind. */
  catchUp(): Promise<void> {
    return Promise.race([this.#reflector.catchUp(), this.#absent.promise]);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stopped'));
    await Promise.all([this.#reflector.stop(), this.#discovery]);
  }

  #listed(): void {
    const before = this.#state;
    if (before === 'served') return;
    this.#state = 'served';
    this.#logVersion();
    if (before === 'unknown') return;
    this.#absent = deferred();
    this.#options.onServed?.(true);
  }

  #logVersion(): void {
    this.#options.logger.info('the API server serves PodGroups of scheduling.k8s.io', { version: this.#version });
  }

  #onProblem(problem: ReflectorProblem): void {
    const { error } = problem;
    if (error instanceof NotFoundError) this.#discovery ??= this.#discover();
    else if (error instanceof ForbiddenError) this.#setAbsent('may not read them: grant list and watch');
    else logReflectorProblem(this.#options.logger, problem);
  }

  /** Looks for a version that the server serves; the reflector's next list uses it. */
  async #discover(): Promise<void> {
    const { logger } = this.#options;
    try {
      const served = await this.#servedVersions();
      const version = nativeVersions.find((known) => served.includes(known));
      if (version !== undefined) this.#use(version);
      else if (served.includes('v1alpha1')) this.#setAbsent('needs Kubernetes 1.36 or later for them');
      else this.#setAbsent('schedules pods with spec.schedulingGroup once the API server serves them');
    } catch (error) {
      if (!this.#stop.signal.aborted) logger.debug(`cannot discover ${nativeGroup}`, { error: describeError(error) });
    } finally {
      this.#discovery = undefined;
    }
  }

  #use(version: NativeVersion): void {
    if (version === this.#version) return;
    this.#version = version;
    // The watch continues in the new version, without a list.
    if (this.#state === 'served') this.#logVersion();
  }

  /** Returns the versions with PodGroups, and v1alpha1, which has none. */
  async #servedVersions(): Promise<readonly string[]> {
    const path = `/apis/${nativeGroup}`;
    const { versions = [] } = (await this.#get<{ versions?: readonly { version: string }[] }>(path)) ?? {};
    const served: string[] = [];
    for (const { version } of versions) {
      if (version === 'v1alpha1') served.push(version);
      if (!(nativeVersions as readonly string[]).includes(version)) continue;
      const list = await this.#get<{ resources?: readonly { name: string }[] }>(`${path}/${version}`);
      if (list?.resources?.some(({ name }) => name === 'podgroups') === true) served.push(version);
    }
    return served;
  }

  /** Returns undefined if there is nothing at this path. */
  async #get<R>(path: string): Promise<R | undefined> {
    try {
      return await this.#options.client.get<R>(path, { signal: this.#stop.signal, timeoutMs: callTimeoutMs });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  #setAbsent(what: string): void {
    if (this.#state === 'absent' || this.#stop.signal.aborted) return;
    const wasServed = this.#state === 'served';
    this.#state = 'absent';
    this.#absent.resolve();
    const message = `no PodGroups of scheduling.k8s.io: Tutti ${what}`;
    if (wasServed) this.#options.logger.warn(message, { groups: this.store.size });
    else this.#options.logger.info(message, {});
    if (!wasServed) return;
    this.#options.onServed?.(false);
    // A watch that resumes would not show that the server serves the kind again.
    this.#reflector.relist();
  }
}
