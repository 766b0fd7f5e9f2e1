import { deferred } from '../base/deferred.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import type { Random } from '../base/random.ts';
import type { Logger } from '../observability/logger.ts';
import { isAccessProblem } from './api-access-log.ts';
import { AlreadyExistsError, ConflictError, NotFoundError } from './api-errors.ts';
import type { NotLeadingError } from './api-errors.ts';
import type { CallOptions, KubeClient } from './kube-client.ts';
import {
  acquiredOrRenewedLease,
  durationOf,
  heldLease,
  holderOf,
  leaseOf,
  releasedLease,
  signOfLifeOf,
} from './lease-record.ts';
import type { Lease, LeaseHolder } from './lease-record.ts';
import { LeaseWatch } from './lease-watch.ts';
import { wait } from './wait.ts';
import type { WriteFence } from './write-fence.ts';

/** Times in milliseconds, as in kube-scheduler's --leader-elect-* flags: lease duration > renew deadline > retry period. */
export interface LeaderElectionTimes {
  /** How long candidates wait after the holder's last sign of life before they take the Lease. */
  readonly leaseDurationMs: number;
  /** How long the leader may continue after the start of its last successful renewal. */
  readonly renewDeadlineMs: number;
  /** Time between two attempts to acquire or renew the Lease. */
  readonly retryPeriodMs: number;
}

export interface LeaderElectorOptions extends LeaderElectionTimes {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Unique to this process: it differs even from an earlier process of the same pod. */
  readonly identity: string;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Open while this process leads. Only the elector opens it. */
  readonly fence: WriteFence;
  /** Called when this process starts to lead, and when it stops leading. */
  readonly onChange?: (leads: boolean) => void;
}

/** The last observed state of a Lease held by another process. */
interface Observation {
  readonly holder: string;
  readonly signOfLife: string;
  /** Monotonic time from which a candidate may take the Lease: the holder was then silent for its lease duration. */
  readonly freeAt: number;
}

type LeaseCall = Pick<CallOptions, 'lane' | 'timeoutMs' | 'signal'>;

/** How long `tried()` waits for the first attempt: a slow Lease must not delay the cluster cache. */
const firstAttemptMs = 500;
/** Minimum time between attempts, however often the Lease changes. */
const minGapMs = 100;
const releaseCall: LeaseCall = { lane: 'lease', timeoutMs: 2_000 };

/**
 * A candidate for a Lease, by client-go's rules. The holder renews the Lease. A candidate takes it when it is free, or when the
 * candidate saw no sign of life for the duration written in the Lease, measured on its own monotonic clock. Every write names the
 * version that was read, so only one candidate wins.
 *
 * The fence opens when the acquiring write is *sent* and closes `renewDeadlineMs` later; each renewal extends it in the same
 * way. Other candidates start to count when they *see* that write and wait longer, so they cannot start before the fence has
 * closed. If the Lease is deleted under its holder, a candidate that saw it held creates it only at the time at which it could
 * have taken it.
 *
 * Candidates watch the Lease, so that they see a release at once. Without permission to watch, they read it every `retryPeriodMs`.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #path: string;
  readonly #collection: string;
  readonly #stop = new AbortController();
  readonly #tried = deferred<boolean>();
  readonly #elected = deferred();
  readonly #lost = deferred<NotLeadingError>();
  #running: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  /** The Lease as last read or written. */
  #lease: Lease | undefined;
  #observed: Observation | undefined;
  #isLeading = false;
  /** A write with this process as the holder was sent, so the Lease may name it. */
  #mayHold = false;
  /** Why the last attempt failed. Logged as a warning only when it changes. */
  #problem: string | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
    this.#path = `${this.#collection}/${options.name}`;
    this.#elected.promise.catch(() => undefined); // there may be no waiter when it stops
  }

  /** Starts the election; a second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves with whether this process leads, once the first attempt has ended, takes too long, or `stop` is called. */
  tried(): Promise<boolean> {
    return this.#tried.promise;
  }

  /** Resolves when this process leads. Rejects if it is stopped first. */
  elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Resolves when this process lost the Lease without `stop`. The fence has then ended permanently: start a new process. */
  lost(): Promise<NotLeadingError> {
    return this.#lost.promise;
  }

  get isLeading(): boolean {
    return this.#isLeading && this.#options.fence.isOpen;
  }

  /** The holder of the Lease as far as this process knows. Empty: the Lease is free or has not been read. */
  get holder(): string {
    return this.#lease === undefined ? '' : holderOf(this.#lease);
  }

  /**
   * Ends the candidacy; a second call waits for the same end. It releases a Lease that this process holds, so that another
   * candidate takes it at once. If a recent bind got no response, its outcome is unknown and the Lease is left to expire. Stop
   * all writers first; `isIdle: false` reports that one did not stop, which also leaves the Lease to expire.
   */
  stop({ isIdle = true }: { readonly isIdle?: boolean } = {}): Promise<void> {
    return (this.#stopped ??= this.#endCandidacy(isIdle));
  }

  async #endCandidacy(isIdle: boolean): Promise<void> {
    const reason = new Error('the leader election is stopped');
    this.#stop.abort(reason);
    this.#tried.resolve(false);
    this.#elected.reject(reason);
    await this.#running;
    if (!this.#mayHold) return;
    const { fence, leaseDurationMs, logger, onChange } = this.#options;
    fence.end('this process has stopped leading');
    const lease = this.#leaseName;
    if (fence.hasBindInDoubt(leaseDurationMs)) {
      logger.warn('left the Lease to expire: a bind got no response and may still take effect', { lease });
    } else if (!isIdle) {
      logger.warn('left the Lease to expire: a task did not stop and may still write', { lease });
    } else {
      await this.#release();
    }
    if (this.#isLeading) onChange?.(false);
    this.#isLeading = false;
  }

  get #leaseName(): string {
    return `${this.#options.namespace}/${this.#options.name}`;
  }

  get #asHolder(): LeaseHolder {
    const { identity, leaseDurationMs, clock } = this.#options;
    return { identity, durationMs: leaseDurationMs, now: clock.now() };
  }

  async #run(): Promise<void> {
    const { clock, fence, logger, identity, onChange } = this.#options;
    const firstAttemptTimer = clock.setTimer(firstAttemptMs, () => this.#tried.resolve(false));
    void this.#tried.promise.then(() => firstAttemptTimer.cancel());
    await this.#acquire();
    if (this.#stop.signal.aborted) return;
    this.#isLeading = true;
    logger.info('became leader', { lease: this.#leaseName, identity });
    onChange?.(true);
    this.#tried.resolve(true);
    this.#elected.resolve();
    await this.#keep();
    if (this.#stop.signal.aborted) return;
    const reason = fence.signal.reason as NotLeadingError;
    logger.error('lost the leader election', { lease: this.#leaseName, reason: reason.message });
    this.#isLeading = false;
    onChange?.(false);
    this.#lost.resolve(reason);
  }

  /** Returns when the fence is open or the elector is stopped. */
  async #acquire(): Promise<void> {
    const { client, clock, random, retryPeriodMs } = this.#options;
    const { signal } = this.#stop;
    let changed = deferred();
    const watch = new LeaseWatch({
      client,
      clock,
      path: this.#collection,
      name: this.#options.name,
      onChange: () => changed.resolve(),
      signal,
    });
    while (!signal.aborted) {
      changed = deferred();
      const begunAt = clock.monotonic();
      try {
        if (await this.#tryToTake()) break;
        this.#problem = undefined;
        watch.keepOpen(this.#lease?.metadata.resourceVersion);
      } catch (error) {
        if (signal.aborted) break;
        this.#report('cannot read or acquire the Lease', error);
      }
      this.#tried.resolve(false);
      const freeIn = (this.#observed?.freeAt ?? Infinity) - clock.monotonic();
      // Up to a fifth more each time, as in client-go, so that candidates that started together drift apart.
      const delayMs = Math.min(retryPeriodMs * (1 + 0.2 * random()), freeIn > 0 ? freeIn : Infinity);
      await this.#either(changed.promise, delayMs);
      const gapMs = minGapMs - (clock.monotonic() - begunAt);
      if (gapMs > 0) await wait(clock, gapMs, signal).catch(() => undefined);
    }
    watch.close();
  }

  /** Resolves with the promise, after the delay, or when the elector is stopped. */
  async #either(promise: Promise<void>, delayMs: number): Promise<void> {
    const over = new AbortController();
    void promise.then(() => over.abort());
    const end = AbortSignal.any([over.signal, this.#stop.signal]);
    await wait(this.#options.clock, delayMs, end).catch(() => undefined);
  }

  /** Tries once to acquire the Lease; returns whether this process leads now. */
  async #tryToTake(): Promise<boolean> {
    const { clock, identity } = this.#options;
    const call = this.#callUntil(this.#stop.signal);
    const lease = await this.#read(call);
    const now = clock.monotonic();
    if (lease === undefined) {
      if (this.#observed !== undefined && this.#observed.holder !== '' && now < this.#observed.freeAt) return false;
      return this.#opens(() => this.#create(call));
    }
    this.#observe(lease, now);
    const holder = holderOf(lease);
    if (holder !== '' && holder !== identity && now < this.#observed!.freeAt) return false;
    return this.#opens(() => this.#acquireOrRenew(lease, call));
  }

  /**
   * Runs the write that makes this process the holder, and opens the fence for as long as it allows. Returns false if the
   * response came too late.
   */
  async #opens(write: () => Promise<void>): Promise<boolean> {
    const { clock, fence, renewDeadlineMs } = this.#options;
    const until = clock.monotonic() + renewDeadlineMs;
    await write();
    if (clock.monotonic() >= until) return false;
    fence.openUntil(until);
    return true;
  }

  #observe(lease: Lease, now: number): void {
    const { logger, identity, leaseDurationMs } = this.#options;
    const holder = holderOf(lease);
    const signOfLife = signOfLifeOf(lease);
    if (this.#observed?.signOfLife === signOfLife) return;
    if (holder !== '' && holder !== identity && holder !== this.#observed?.holder) {
      logger.info('standing by: another process holds the Lease', { lease: this.#leaseName, holder });
    }
    this.#observed = { holder, signOfLife, freeAt: now + durationOf(lease, leaseDurationMs) };
  }

  /** Renews until the fence has ended or the elector is stopped. */
  async #keep(): Promise<void> {
    const { clock, fence, retryPeriodMs } = this.#options;
    const end = AbortSignal.any([fence.signal, this.#stop.signal]);
    while (!end.aborted) {
      await wait(clock, retryPeriodMs, end).catch(() => undefined);
      if (end.aborted) return;
      try {
        await this.#opens(() => this.#renew(this.#callUntil(end)));
        this.#problem = undefined;
      } catch (error) {
        if (!end.aborted) this.#report('cannot renew the Lease', error);
      }
    }
  }

  async #renew(call: LeaseCall): Promise<void> {
    try {
      await this.#acquireOrRenew(this.#lease!, call);
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
      const lease = await this.#read(call);
      if (lease === undefined) {
        await this.#create(call);
        return;
      }
      const holder = holderOf(lease);
      if (holder === this.#options.identity) await this.#acquireOrRenew(lease, call);
      else this.#options.fence.end(holder === '' ? 'another process released the Lease' : `${holder} took the Lease`);
    }
  }

  async #release(): Promise<void> {
    const { clock, logger, identity } = this.#options;
    const fields = { lease: this.#leaseName };
    try {
      // An abandoned write may have taken effect, so the result of the last write is not enough.
      const lease = await this.#read(releaseCall);
      if (lease === undefined || holderOf(lease) !== identity) return;
      await this.#replace(releasedLease(lease, clock.now()), releaseCall);
      logger.info('released the Lease', fields);
    } catch (error) {
      logger.warn('cannot release the Lease; it expires on its own', { ...fields, error: messageOf(error) });
    }
  }

  /** Returns undefined if the Lease does not exist. */
  async #read(call: LeaseCall): Promise<Lease | undefined> {
    try {
      this.#lease = leaseOf(await this.#options.client.get(this.#path, call));
      return this.#lease;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      return undefined;
    }
  }

  async #create(call: LeaseCall): Promise<void> {
    const { client, namespace, name } = this.#options;
    this.#mayHold = true;
    try {
      this.#lease = leaseOf(await client.create(this.#collection, heldLease(namespace, name, this.#asHolder), call));
    } catch (cause) {
      if (!(cause instanceof NotFoundError)) throw cause;
      const remedy = 'create the namespace, or set another with --leader-elect-resource-namespace';
      throw new Error(`cannot create a Lease in namespace ${namespace}: ${cause.message}; ${remedy}`, { cause });
    }
  }

  #acquireOrRenew(lease: Lease, call: LeaseCall): Promise<void> {
    this.#mayHold = true;
    return this.#replace(acquiredOrRenewedLease(lease, this.#asHolder), call);
  }

  async #replace(lease: Lease, call: LeaseCall): Promise<void> {
    this.#lease = leaseOf(await this.#options.client.replace(this.#path, lease, call));
  }

  /** The deadline of a call leaves time for a second one if the first hangs. */
  #callUntil(signal: AbortSignal): LeaseCall {
    return { lane: 'lease', timeoutMs: this.#options.renewDeadlineMs / 2, signal };
  }

  /** Logs a failure. A conflict is not one: another candidate was faster. ApiAccessLog reports problems of access. */
  #report(what: string, error: unknown): void {
    if (error instanceof ConflictError || error instanceof AlreadyExistsError) return;
    const problem = messageOf(error);
    const { logger } = this.#options;
    const fields = { lease: this.#leaseName, error: problem };
    if (problem === this.#problem || isAccessProblem(error)) logger.debug(what, fields);
    else logger.warn(what, fields);
    this.#problem = problem;
  }
}
