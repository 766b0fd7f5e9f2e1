import { PlainCapacity } from '../checks/plain-fit.ts';
import { hasEnded, plainNode, plainPod } from '../checks/plain-objects.ts';
import type { PlainPod } from '../checks/plain-objects.ts';
import { toKubernetesTime } from '../../../src/api/kubernetes-time.ts';
import { endsInMs, heldMs, podPathOf, runsMs } from './manifests.ts';
import { startMs } from './process.ts';
import { share } from './mix.ts';
import type { Plane } from './plane.ts';
import type { Committed } from './record.ts';
import type { Timeline } from './timeline.ts';

/** Simulates the nodes for the pods bound to them, and pod garbage collection for deleted nodes. */
export class Kubelets {
  readonly #plane: Plane;
  readonly #timeline: Timeline;
  readonly #seed: number;
  readonly #tellsStarts: boolean;
  /** node name -> how many more pods it will reject */
  readonly #rejections = new Map<string, number>();
  /** Nodes that currently do nothing. */
  readonly #asleep = new Set<string>();
  /** uids of pods that were admitted or rejected */
  readonly #seen = new Set<string>();
  #reactsUntil = 0;

  /** `tellsStarts`: the status of a pod shows when it started. */
  constructor(options: {
    readonly plane: Plane;
    readonly timeline: Timeline;
    readonly seed: number;
    readonly tellsStarts: boolean;
  }) {
    this.#plane = options.plane;
    this.#timeline = options.timeline;
    this.#seed = options.seed;
    this.#tellsStarts = options.tellsStarts;
    this.#plane.subscribe((committed) => this.#changed(committed));
  }

  /** Latest time at which a node may reject a pod that is already bound to it, or end one that is being deleted. */
  get reactsUntil(): number {
    return this.#reactsUntil;
  }

  reject(node: string, pods: number): void {
    this.#rejections.set(node, pods);
  }

  sleep(node: string): void {
    this.#asleep.add(node);
  }

  wake(node: string): void {
    this.#asleep.delete(node);
    for (const object of this.#plane.record.all('pods')) {
      const pod = plainPod(object);
      if (pod.node === node && pod.isLeaving) this.#endSoon(pod);
      else if (pod.node === node && !hasEnded(pod)) {
        this.#admitSoon(pod);
        if (pod.phase === 'Running') this.#finishIn(pod, 100);
      }
    }
  }

  /** Deletes the pods of a node that is gone, as the pod garbage collector does. */
  collect(node: string): void {
    for (const object of this.#plane.record.all('pods')) {
      const pod = plainPod(object);
      if (pod.node === node) this.#plane.send('DELETE', podPathOf(pod.key), { gracePeriodSeconds: 0 });
    }
  }

  /** Deletes the pods of a node that is not ready, with their grace period: they end when the node is back. */
  evict(node: string): void {
    for (const object of this.#plane.record.all('pods')) {
      const pod = plainPod(object);
      if (pod.node === node) this.#plane.send('DELETE', podPathOf(pod.key));
    }
  }

  #changed({ resource, type, object, previous }: Committed): void {
    if (resource !== 'pods' || type === 'DELETED') return;
    const pod = plainPod(object);
    const before = previous && plainPod(previous);
    if (pod.isLeaving && before?.isLeaving !== true) {
      const { [heldMs]: held = '2500' } = (object as any).metadata.annotations ?? {};
      if (pod.node !== '') this.#endSoon(pod);
      if (hasFinalizers(object)) this.#releaseSoon(pod, Number(held));
      return;
    }
    if (pod.node !== '' && (before?.node ?? '') === '') this.#admitSoon(pod);
  }

  #admitSoon(pod: PlainPod): void {
    const inMs = 200 + 600 * share(this.#seed, 21, this.#timeline.count);
    if ((this.#rejections.get(pod.node) ?? 0) > 0) {
      this.#reactsIn(inMs);
    }
    this.#timeline.after(inMs, () => this.#admit(pod));
  }

  #admit({ uid, key, node }: PlainPod): void {
    const known = this.#plane.record.get('pods', key);
    const nodeObject = this.#plane.record.get('nodes', `/${node}`);
    if (known === undefined || nodeObject === undefined || this.#asleep.has(node) || this.#seen.has(uid)) return;
    const pod = plainPod(known);
    if (pod.uid !== uid || pod.isLeaving || hasEnded(pod)) return;
    this.#seen.add(uid);
    const left = this.#rejections.get(node) ?? 0;
    if (left > 0) this.#rejections.set(node, left - 1);
    const others = [...this.#plane.record.all('pods')]
      .map(plainPod)
      .filter((other) => other.node === node && this.#seen.has(other.uid));
    const running = others.filter((other) => !hasEnded(other));
    const capacity = new PlainCapacity(
      [plainNode(nodeObject)],
      running.map((other) => [other, node] as const),
    );
    const isRejected = left > 0 || capacity.excess(node) !== undefined;
    const status = isRejected
      ? { phase: 'Failed', reason: 'OutOfcpu', message: 'Node did not have enough resource: cpu' }
      : {
          phase: 'Running',
          conditions: [...conditionsOf(known), { type: 'Ready', status: 'True' }],
          ...(this.#tellsStarts && { startTime: toKubernetesTime(startMs + this.#timeline.now) }),
        };
    this.#plane.send('PATCH', `${podPathOf(key)}/status`, { metadata: { uid }, status });
    if (!isRejected) this.#finishIn(pod, Math.min(runTimeOf(known), deadlineMsOf(known)));
  }

  /** Ends the pod: it has succeeded, or exceeded its deadline. */
  #finishIn({ uid, key, node }: PlainPod, ms: number): void {
    const started = this.#plane.record.get('pods', key)!;
    const [lastsMs, deadlineMs] = [runTimeOf(started), deadlineMsOf(started)];
    if (Math.min(lastsMs, deadlineMs) === Infinity) return;
    this.#reactsIn(ms);
    this.#timeline.after(ms, () => {
      const known = this.#plane.record.get('pods', key);
      if (known === undefined || this.#asleep.has(node)) return;
      const pod = plainPod(known);
      if (pod.uid !== uid || pod.isLeaving || hasEnded(pod)) return;
      const status = lastsMs < deadlineMs ? { phase: 'Succeeded' } : { phase: 'Failed', reason: 'DeadlineExceeded' };
      this.#plane.send('PATCH', `${podPathOf(key)}/status`, { metadata: { uid }, status });
    });
  }

  #endSoon({ uid, key, node }: PlainPod): void {
    const { [endsInMs]: drawn = String(300 + 1_500 * share(this.#seed, 22, this.#timeline.count)) } =
      (this.#plane.record.get('pods', key) as any)?.metadata.annotations ?? {};
    this.#reactsIn(Number(drawn));
    this.#timeline.after(Number(drawn), () => {
      const known = this.#plane.record.get('pods', key);
      if (known === undefined || plainPod(known).uid !== uid || this.#asleep.has(node)) return;
      this.#plane.send('DELETE', podPathOf(key), { gracePeriodSeconds: 0, preconditions: { uid } });
    });
  }

  #reactsIn(ms: number): void {
    this.#reactsUntil = Math.max(this.#reactsUntil, this.#timeline.now + ms);
  }

  #releaseSoon({ uid, key }: PlainPod, inMs: number): void {
    this.#reactsIn(inMs);
    this.#timeline.after(inMs, () => {
      const known = this.#plane.record.get('pods', key);
      if (known === undefined || plainPod(known).uid !== uid) return;
      this.#plane.send('PATCH', podPathOf(key), { metadata: { uid, finalizers: null } });
    });
  }
}

function hasFinalizers(object: any): boolean {
  return (object.metadata.finalizers ?? []).length > 0;
}

function runTimeOf({ metadata }: any): number {
  return Number(metadata.annotations?.[runsMs] ?? Infinity);
}

function deadlineMsOf({ spec }: any): number {
  return (spec.activeDeadlineSeconds ?? Infinity) * 1000;
}

function conditionsOf(object: any): object[] {
  return (object.status?.conditions ?? []).filter(({ type }: { type: string }) => type !== 'Ready');
}
