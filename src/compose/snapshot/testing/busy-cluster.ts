import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';

/** A story of nodes, pods, groups and attempts that come and go. */
export class BusyCluster {
  readonly scheduling = new Scheduling({ plugins: defaultPlugins });
  readonly #random: Random;
  readonly #nodes = new Set<string>();
  readonly #pods = new Set<string>();
  #count = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    for (let i = 0; i < 4; i++) this.#addNode();
  }

  /** Returns the cluster of a seed at some moment. */
  static async at(seed: number): Promise<BusyCluster> {
    const cluster = new BusyCluster(seed);
    for (let steps = 20 + (seed % 60); steps > 0; steps--) await cluster.step();
    return cluster;
  }

  /** Does one thing. */
  async step(): Promise<void> {
    const { scheduling } = this;
    const action = this.#int(0, 11);
    if (action === 0) this.#addNode();
    else if (action === 1) this.#removeNode();
    else if (action <= 3) this.#addGroup();
    else if (action === 4) this.#addPod({});
    else if (action === 5) this.#removePod();
    else if (action === 6) scheduling.harness.clock.advance(this.#int(1, 20_000));
    else if (action === 7) this.#removeVictims();
    else if (action === 8) await this.#confirm();
    else while ((await scheduling.attempt()) !== undefined && this.#random() < 0.9);
    await scheduling.settle();
  }

  #addNode(): void {
    const name = `n${this.#count++}`;
    this.#nodes.add(name);
    this.scheduling.node({
      name,
      cpu: this.#int(1, 6),
      unschedulable: this.#random() < 0.15,
      labels: { generation: String(this.#int(8, 12)), zone: this.#pick(['a', 'b'])!, 'kubernetes.io/hostname': name },
      ...(this.#random() < 0.2 && { taints: ['dedicated=yes:NoSchedule'] }),
    });
  }

  #removeNode(): void {
    const name = this.#pick([...this.#nodes]);
    if (name === undefined || this.#random() < 0.5) return;
    this.#nodes.delete(name);
    this.scheduling.removeNode(name);
  }

  #addGroup(): void {
    const name = `g${this.#count++}`;
    const size = this.#int(1, 5);
    const priority = this.#pick([0, 0, 5, 10])!;
    this.scheduling.group({ name, minMember: this.#int(1, size) });
    const isMissing = this.#random() < 0.2;
    for (let i = isMissing ? 1 : 0; i < size; i++) this.#addPod({ group: name, priority });
  }

  #addPod(options: PodOptions): void {
    const name = `p${this.#count++}`;
    this.#pods.add(name);
    this.scheduling.pod({
      name,
      cpu: this.#int(1, 3),
      labels: { app: this.#pick(['web', 'db'])! },
      ...(this.#random() < 0.2 && { nodeSelector: { zone: this.#pick(['a', 'b', 'c'])! } }),
      ...(this.#random() < 0.1 && { hostPorts: [80] }),
      ...(this.#random() < 0.1 && { spec: newerThan(this.#int(8, 12)) }),
      ...options,
    });
  }

  #removePod(): void {
    const name = this.#pick([...this.#pods]);
    if (name === undefined) return;
    this.#pods.delete(name);
    if (this.scheduling.has(name)) this.scheduling.removePod(name);
  }

  #removeVictims(): void {
    for (const name of this.scheduling.harness.evicted) {
      if (this.scheduling.has(name) && this.#random() < 0.7) this.scheduling.removePod(name);
      this.#pods.delete(name);
    }
  }

  /** Some Bindings succeed, and the watch shows it; some fail. */
  async #confirm(): Promise<void> {
    for (const { binding } of [...this.scheduling.binds]) {
      if (!this.scheduling.has(binding.name)) continue;
      if (this.#random() < 0.1) await this.scheduling.reject(binding.name, 'no');
      else if (this.#random() < 0.8) {
        await this.scheduling.accept(binding.name);
        this.scheduling.change(binding.name, { nodeName: binding.nodeName });
      }
    }
  }

  #int(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  #pick<T>(of: readonly T[]): T | undefined {
    return of[this.#int(0, of.length - 1)];
  }
}

/** Compares a label as a number. */
function newerThan(generation: number): NonNullable<PodOptions['spec']> {
  const requirement = { key: 'generation', operator: 'Gt', values: [String(generation)] };
  const term = { matchExpressions: [requirement] };
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
  };
}
