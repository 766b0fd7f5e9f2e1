import type { Clock, Timer } from '../../base/clock.ts';
import { toError } from '../../base/to-error.ts';
import { AlreadyExistsError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import type { OnSimulationProblem } from './simulation-problem.ts';
import { toKubernetesMicroTime } from '../../api/kubernetes-time.ts';

export interface NodeLeasesOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProblem: OnSimulationProblem;
}

const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
/** A kubelet renews every 10 s, and is taken for dead after 40. */
const renewEverySlots = 10;
const slotMs = 1_000;
const leaseDurationSeconds = 40;
/** Renewals under way at once. */
const batchSize = 16;

/**
 * The Leases by which nodes show that they live. One timer turns a wheel of ten slots, one a second; each node is in one
 * slot, so its Lease is renewed every 10 s whatever the number of nodes.
 */
export class NodeLeases {
  readonly #options: NodeLeasesOptions;
  /** Slot -> node name -> node uid */
  readonly #slots: readonly Map<string, string>[] = Array.from({ length: renewEverySlots }, () => new Map());
  #nextSlot = 0;
  #nextToFill = 0;
  #timer: Timer | undefined;
  #turning: Promise<void> | undefined;

  constructor(options: NodeLeasesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= this.#options.clock.setTimer(slotMs, () => this.#turn());
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#turning;
  }

  /** Makes a node's Lease and keeps it alive. Failures are reported and made good at its next turn. */
  async add(name: string, uid: string): Promise<void> {
    this.#slots[this.#nextToFill]!.set(name, uid);
    this.#nextToFill = (this.#nextToFill + 1) % renewEverySlots;
    await this.#renew(name, uid);
  }

  /** The node is gone: its Lease expires. */
  remove(name: string): void {
    for (const slot of this.#slots) slot.delete(name);
  }

  #turn(): void {
    const { clock, signal } = this.#options;
    if (signal.aborted) return;
    this.#timer = clock.setTimer(slotMs, () => this.#turn());
    if (this.#turning !== undefined) return; // the server is slow: no more at once
    const slot = this.#slots[this.#nextSlot]!;
    this.#nextSlot = (this.#nextSlot + 1) % renewEverySlots;
    if (slot.size === 0) return;
    this.#turning = this.#renewAll([...slot]).finally(() => (this.#turning = undefined));
  }

  async #renewAll(nodes: readonly (readonly [string, string])[]): Promise<void> {
    for (let start = 0; start < nodes.length; start += batchSize) {
      await Promise.all(nodes.slice(start, start + batchSize).map(([name, uid]) => this.#renew(name, uid)));
    }
  }

  async #renew(name: string, uid: string): Promise<void> {
    const { client, clock, signal } = this.#options;
    const renewTime = toKubernetesMicroTime(clock.now());
    const patch = (): Promise<unknown> =>
      client.patch(`${leasesPath}/${encodeURIComponent(name)}`, 'merge', { spec: { renewTime } }, { signal });
    try {
      await patch();
    } catch (error) {
      if (!(error instanceof NotFoundError)) {
        this.#report(name, error);
        return;
      }
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
        spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
      };
      await client.create(leasesPath, lease, { signal }).catch((failure: unknown) => {
        if (!(failure instanceof AlreadyExistsError)) this.#report(name, failure);
      });
    }
  }

  #report(name: string, thrown: unknown): void {
    if (this.#options.signal.aborted) return;
    const error = toError(thrown);
    this.#options.onProblem({ message: 'the lease of a node could not be renewed', subject: `node ${name}`, error });
  }
}
