import type { Condition } from '../../../api/condition.ts';
import type { NativePodGroup } from '../../../api/native-pod-group.ts';
import type { VirtualClock } from '../../../base/virtual-clock.ts';
import { ConflictError, NotFoundError } from '../../../client/api-errors.ts';
import { createMetricRegistry } from '../../../observability/metric-registry.ts';
import { silentLogger } from '../../../observability/silent-logger.ts';
import type { MemberPod } from '../../member-pod.ts';
import { NativeStatusController } from '../native-status-controller.ts';
import { PodGroupControllerMetrics } from '../../pod-group-controller-metrics.ts';

/** An API server with PodGroups of `scheduling.k8s.io` and pods, and the caches of one controller. `deliver` brings the caches up to date. */
export class NativeApi {
  readonly clock: VirtualClock;
  /** Writes of the controllers that the server accepted, in order, with the schedulerNames of the pods in the cache. */
  readonly writes: { readonly key: string; readonly condition: Condition; readonly of: readonly string[] }[] = [];
  /** Errors for the next writes, one each. */
  readonly failures: Error[] = [];
  /** False: the server does not serve the kind. */
  isServed = true;
  readonly registry = createMetricRegistry({ processMetrics: false });
  readonly #metrics = new PodGroupControllerMetrics(this.registry, () => []);
  #controller: NativeStatusController | undefined;
  /** key -> the server's version */
  readonly #groups = new Map<string, NativePodGroup>();
  /** uid -> pod */
  readonly #pods = new Map<string, MemberPod>();
  /** The same as the controller has it. */
  readonly #cachedGroups = new Map<string, NativePodGroup>();
  readonly #cachedPods = new Map<string, MemberPod>();
  #version = 1;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  /** Starts a controller whose caches are current. An earlier one ends. */
  async start(): Promise<void> {
    await this.#controller?.stop();
    this.#cachedGroups.clear();
    this.#cachedPods.clear();
    for (const [key, group] of this.#groups) this.#cachedGroups.set(key, group);
    for (const [uid, pod] of this.#pods) this.#cachedPods.set(uid, pod);
    this.#controller = new NativeStatusController({
      lookup: {
        groups: () => this.#cachedGroups.values(),
        group: (key) => (this.isServed ? this.#cachedGroups.get(key) : undefined),
        membersOf: (key) => [...this.#cachedPods.values()].filter(({ nativeGroupKey }) => nativeGroupKey === key),
      },
      writer: { writeCondition: (group, condition) => this.#write(group, condition) },
      schedulerNames: new Set(['tutti']),
      clock: this.clock,
      random: () => 1,
      logger: silentLogger,
      metrics: this.#metrics,
    });
    this.#controller.start();
    this.#controller.groupHandler.onSynced!();
    this.#controller.memberHandler.onSynced!();
  }

  stop(): Promise<void> | undefined {
    return this.#controller?.stop();
  }

  get controller(): NativeStatusController {
    return this.#controller!;
  }

  group(key: string): NativePodGroup | undefined {
    return this.#groups.get(key);
  }

  /** Creates or replaces a group as its user or another component does. */
  setGroup(group: NativePodGroup): void {
    this.#groups.set(group.key, { ...group, resourceVersion: String(++this.#version) });
  }

  deleteGroup(key: string): void {
    this.#groups.delete(key);
  }

  setPods(...pods: readonly MemberPod[]): void {
    for (const pod of pods) this.#pods.set(pod.uid, pod);
  }

  deletePod(uid: string): void {
    this.#pods.delete(uid);
  }

  deliverGroups(): void {
    const { groupHandler } = this.controller;
    for (const [key, last] of this.#cachedGroups) {
      if (this.#groups.get(key)?.uid === last.uid) continue;
      this.#cachedGroups.delete(key);
      groupHandler.onDelete(last, false);
    }
    for (const [key, group] of this.#groups) {
      const previous = this.#cachedGroups.get(key);
      if (previous?.resourceVersion === group.resourceVersion) continue;
      this.#cachedGroups.set(key, group);
      if (previous === undefined) groupHandler.onAdd(group);
      else groupHandler.onUpdate(previous, group);
    }
  }

  deliverPods(): void {
    const { memberHandler } = this.controller;
    for (const [uid, last] of this.#cachedPods) {
      if (this.#pods.has(uid)) continue;
      this.#cachedPods.delete(uid);
      memberHandler.onDelete(last, false);
    }
    for (const [uid, pod] of this.#pods) {
      const previous = this.#cachedPods.get(uid);
      if (previous === pod) continue;
      this.#cachedPods.set(uid, pod);
      if (previous === undefined) memberHandler.onAdd(pod);
      else memberHandler.onUpdate(previous, pod);
    }
  }

  /** Delivers everything, and runs what is due after `ms`. */
  async pass(ms = 100): Promise<void> {
    this.deliverGroups();
    this.deliverPods();
    await this.wait(ms);
  }

  async wait(ms: number): Promise<void> {
    this.clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #write(group: NativePodGroup, condition: Condition): Promise<void> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    await Promise.resolve();
    const stored = this.#groups.get(group.key);
    const details = { status: 409, reason: 'Conflict', request: 'PATCH', causes: [] };
    if (stored === undefined || !this.isServed) throw new NotFoundError('gone', { ...details, status: 404 });
    if (stored.resourceVersion !== group.resourceVersion) throw new ConflictError('changed', details);
    const pods = [...this.#cachedPods.values()].filter(({ nativeGroupKey }) => nativeGroupKey === group.key);
    this.writes.push({ key: group.key, condition, of: pods.map(({ schedulerName }) => schedulerName!) });
    this.setGroup({ ...stored, scheduled: condition });
  }
}
