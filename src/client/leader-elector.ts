import { deferred } from '../base/deferred.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import type { Random } from '../base/random.ts';
import type { Logger } from '../observability/logger.ts';
import { explainRejection } from './access-denied-error.ts';
import { AlreadyExistsError, ConflictError, NotFoundError } from './api-errors.ts';
import type { NotLeadingError } from './api-errors.ts';
import type { CallOptions, KubeClient } from './kube-client.ts';
import { claimedLease, durationOf, heldLease, holderOf, leaseOf, releasedLease, signOfLifeOf } from './lease-record.ts';
import type { Lease, LeaseClaim } from './lease-record.ts';
import { LeaseWatch } from './lease-watch.ts';
import { wait } from './wait.ts';
import type { WriteFence } from './write-fence.ts';

/** Times in milliseconds, as kube-scheduler's --leader-elect-* have them: lease duration > renew deadline > retry period. */
export interface LeaderElectionTimes {
  /** How long candidates wait after the holder's last sign of life before they take the Lease. */
  readonly leaseDurationMs: number;
  /** How long the leader may go on after the last renewal that it began with success. */
  readonly renewDeadlineMs: number;
  /** Between two attempts to take or to renew it. */
  readonly retryPeriodMs: number;
}

export interface LeaderElectorOptions extends LeaderElectionTimes {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Unlike that of any other process, an earlier one of the same pod included. */
  readonly identity: string;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Opened while this process leads; nobody else has opened it. */
  readonly fence: WriteFence;
  /** Told when it begins to lead, and when it does so no more. */
  readonly onChange?: (leads: boolean) => void;
}

/** How it stands with the Lease, when this process does not hold it. */
interface Observation {
  readonly holder: string;
  readonly signOfLife: string;
  /** Monotonic time from which it may be taken: the holder has then been silent for its lease duration. */
  readonly freeAt: number;
}

type LeaseCall = Pick<CallOptions, 'lane' | 'timeoutMs' | 'signal'>;

/** So long nobody waits for the first attempt: the picture is not to come late because the Lease does. */
const firstAttemptMs = 500;
/** Attempts are never closer together, however often the Lease changes. */
const leastGapMs = 100;
const releaseCall: LeaseCall = { lane: 'lease', timeoutMs: 2_000 };

/**
 * One candidate for a Lease, by client-go's rules: whoever holds it renews it; a candidate takes it when it is free, or has
 * seen no sign of life for the duration that stands in it, measured on its own monotonic clock. Every write names the version
 * that was read, so only one candidate wins.
 *
 * The fence is open from the moment at which the taking write was *sent* until `renewDeadlineMs` later, and each renewal moves
 * that on in the same way. Others begin to count when they *see* that write and wait for longer, so they cannot begin before
 * the fence has closed. A Lease that is deleted under its holder is not created again by a candidate that saw it held, before it
 * could have taken it.
 *
 * Candidates watch the Lease, so that a release is seen at once; without the right to watch they ask every `retryPeriodMs`.
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
  /** What was last read or written. */
  #lease: Lease | undefined;
  #observed: Observation | undefined;
  #isLeading = false;
  /** It was written that this process holds it, or that may have been written. */
  #mayHold = false;
  /** Why the last attempt failed; said when it changes. */
  #problem: string | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
    this.#path = `${this.#collection}/${options.name}`;
    this.#elected.promise.catch(() => undefined); // nobody may be waiting when it is stopped
  }

  /** Begins; a second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the first attempt has ended, or takes longer than a moment, or it is stopped: whether this process led then. */
  tried(): Promise<boolean> {
    return this.#tried.promise;
  }

  /** Resolves when this process leads. Rejects when it is stopped before. */
  elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Resolves when it led and does so no more, though nobody stopped it. The fence has ended then, and stays so: begin anew in a new process. */
  lost(): Promise<NotLeadingError> {
    return this.#lost.promise;
  }

  get isLeading(): boolean {
    return this.#isLeading && this.#options.fence.isOpen;
  }

  /** Who holds the Lease as far as this process knows; empty: nobody, or it has not been read. */
  get holder(): string {
    return this.#lease === undefined ? '' : holderOf(this.#lease);
  }

  /**
   * Ends the candidacy; a second call waits for the same end. A Lease that is held is given up, so that another takes it at once; unless a bind was
   * left without an answer lately, whose fate is not known: then others have to wait for the Lease to expire. Everything that writes
   * must have been stopped before; `isIdle: false` says that something could not be, which has the same effect.
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
      logger.warn('left the Lease to expire: a bind got no answer and may still be carried out', { lease });
    } else if (!isIdle) {
      logger.warn('left the Lease to expire: something that does not end may still write', { lease });
    } else {
      await this.#release();
    }
    if (this.#isLeading) onChange?.(false);
    this.#isLeading = false;
  }

  get #leaseName(): string {
    return `${this.#options.namespace}/${this.#options.name}`;
  }

  get #claim(): LeaseClaim {
    const { identity, leaseDurationMs, clock } = this.#options;
    return { identity, durationMs: leaseDurationMs, now: clock.now() };
  }

  async #run(): Promise<void> {
    const { clock, fence, logger, identity, onChange } = this.#options;
    const patience = clock.setTimer(firstAttemptMs, () => this.#tried.resolve(false));
    void this.#tried.promise.then(() => patience.cancel());
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

  /** Returns when the fence is open, or it was stopped. */
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
        this.#report('the Lease could not be read or taken', error);
      }
      this.#tried.resolve(false);
      const freeIn = (this.#observed?.freeAt ?? Infinity) - clock.monotonic();
      // Up to a fifth more each time, as in client-go, so that candidates that began together do not stay together.
      const delayMs = Math.min(retryPeriodMs * (1 + 0.2 * random()), freeIn > 0 ? freeIn : Infinity);
      await this.#either(changed.promise, delayMs);
      const gapMs = leastGapMs - (clock.monotonic() - begunAt);
      if (gapMs > 0) await wait(clock, gapMs, signal).catch(() => undefined);
    }
    watch.close();
  }

  /** Resolves with the promise, after the time, or when it is stopped. */
  async #either(promise: Promise<void>, delayMs: number): Promise<void> {
    const over = new AbortController();
    void promise.then(() => over.abort());
    const end = AbortSignal.any([over.signal, this.#stop.signal]);
    await wait(this.#options.clock, delayMs, end).catch(() => undefined);
  }

  /** Whether this process leads now. */
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
    return this.#opens(() => this.#claimFor(lease, call));
  }

  /** Writes a claim and opens the fence for as long as it allows; false when the answer took too long to be of use. */
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

  /** Renews until the fence has ended or it is stopped. */
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
        if (!end.aborted) this.#report('the Lease could not be renewed', error);
      }
    }
  }

  async #renew(call: LeaseCall): Promise<void> {
    try {
      await this.#claimFor(this.#lease!, call);
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
      const lease = await this.#read(call);
      if (lease === undefined) {
        await this.#create(call);
        return;
      }
      const holder = holderOf(lease);
      if (holder === this.#options.identity) await this.#claimFor(lease, call);
      else this.#options.fence.end(holder === '' ? 'somebody gave the Lease up' : `${holder} took the Lease`);
    }
  }

  async #release(): Promise<void> {
    const { clock, logger, identity } = this.#options;
    const fields = { lease: this.#leaseName };
    try {
      // A write that was given up may have been carried out after all, so what was written last says little.
      const lease = await this.#read(releaseCall);
      if (lease === undefined || holderOf(lease) !== identity) return;
      await this.#replace(releasedLease(lease, clock.now()), releaseCall);
      logger.info('released the Lease', fields);
    } catch (error) {
      logger.warn('the Lease could not be released and is left to expire', { ...fields, error: messageOf(error) });
    }
  }

  /** Undefined: there is none. */
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
      this.#lease = leaseOf(await client.create(this.#collection, heldLease(namespace, name, this.#claim), call));
    } catch (cause) {
      if (!(cause instanceof NotFoundError)) throw cause;
      const remedy = 'create the namespace, or name another with --leader-elect-resource-namespace';
      throw new Error(`no Lease can be made in namespace ${namespace}: ${cause.message}; ${remedy}`, { cause });
    }
  }

  #claimFor(lease: Lease, call: LeaseCall): Promise<void> {
    this.#mayHold = true;
    return this.#replace(claimedLease(lease, this.#claim), call);
  }

  async #replace(lease: Lease, call: LeaseCall): Promise<void> {
    this.#lease = leaseOf(await this.#options.client.replace(this.#path, lease, call));
  }

  /** A call that hangs leaves time for another one. */
  #callUntil(signal: AbortSignal): LeaseCall {
    return { lane: 'lease', timeoutMs: this.#options.renewDeadlineMs / 2, signal };
  }

  /** Somebody else being quicker is no problem. */
  #report(what: string, error: unknown): void {
    if (error instanceof ConflictError || error instanceof AlreadyExistsError) return;
    const problem = messageOf(explainRejection(error));
    const { logger } = this.#options;
    const fields = { lease: this.#leaseName, error: problem };
    if (problem === this.#problem) logger.debug(what, fields);
    else logger.warn(what, fields);
    this.#problem = problem;
  }
}
