import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { StorageScheduling } from '../testing/storage-scheduling.ts';

const hosts = ['a', 'b', 'c'];

/** Random volumes and gangs. Each gang is scheduled, and bound if it has a plan. */
class Story {
  readonly world = new StorageScheduling();
  readonly #random: () => number;
  /** volume -> the only host that can access it; undefined: all hosts can */
  readonly #hostOf = new Map<string, string | undefined>();
  readonly #sizeOf = new Map<string, number>();
  readonly #classOf = new Map<string, string>();
  /** claim -> its volume */
  readonly #volumeOf = new Map<string, string>();
  #serial = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.world.hosts(...hosts);
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#upTo(from.length - 1)]!;
  }

  addVolumes(): void {
    for (let i = this.#upTo(3); i > 0; i--) {
      const name = `pv-${this.#serial++}`;
      const node = this.#random() < 0.8 ? this.#pick(hosts) : undefined;
      const [size, storageClass] = [1 + this.#upTo(3), this.#pick(['manual', 'manual', 'wait'])];
      this.#hostOf.set(name, node);
      this.#sizeOf.set(name, size);
      this.#classOf.set(name, storageClass);
      this.world.volume(name, { storageClass, size: `${size}Gi`, ...(node !== undefined && { node }) });
    }
  }

  /** Schedules a gang with new claims, some of them shared by members, and binds the volumes of its plan. */
  async playGang(): Promise<void> {
    const { world } = this;
    const name = `gang-${this.#serial++}`;
    const claims = Array.from({ length: 1 + this.#upTo(4) }, (_, i) => `${name}-claim-${i}`);
    for (const claim of claims) {
      const [size, storageClass] = [1 + this.#upTo(2), this.#pick(['manual', 'manual', 'manual', 'wait'])];
      this.#sizeOf.set(claim, size);
      this.#classOf.set(claim, storageClass);
      world.claim(claim, { storageClass, size: `${size}Gi` });
    }
    const members = Array.from({ length: 1 + this.#upTo(3) }, () => {
      return [...new Set(Array.from({ length: this.#upTo(2) }, () => this.#pick(claims)))];
    });
    const before = world.written.length;
    world.gang(name, members, '100m');
    const outcome = await world.attempt();
    if (outcome !== 'planned') {
      expect(world.written.length).toBe(before);
      this.#expectNothingAssumed();
      // Remove it, so that it does not affect later gangs.
      for (const index of members.keys()) world.removePod(`${name}-${index}`);
      world.removeGroup(`default/${name}`);
      return;
    }
    for (const text of world.written.slice(before)) this.#bind(text);
    await world.settle();
    expect(world.binding.map((text) => text.split('@')[0])).toEqual(members.map((_, index) => `${name}-${index}`));
    for (const { binding } of [...world.binds]) {
      const its = members[Number(binding.name.slice(name.length + 1))]!;
      for (const claim of its) this.#expectReachable(claim, binding.nodeName);
      await world.accept(binding.name);
      world.change(binding.name, { nodeName: binding.nodeName, phase: 'Running' });
    }
    this.#expectNothingAssumed();
  }

  /** Completes the writes for one claim, like the PersistentVolume controller. */
  #bind(written: string): void {
    if (written.includes(' for ')) {
      const [volume, claim] = written.split(' for ') as [string, string];
      const known = this.#volumeOf.get(claim);
      if (known === volume) return;
      expect(known).toBeUndefined();
      expect([...this.#volumeOf.values()]).not.toContain(volume);
      expect(this.#classOf.get(volume)).toBe(this.#classOf.get(claim));
      expect(this.#sizeOf.get(volume)).toBeGreaterThanOrEqual(this.#sizeOf.get(claim)!);
      this.#volumeOf.set(claim, volume);
      this.#show(claim, volume);
      return;
    }
    const [claim, node] = written.split(' on ') as [string, string];
    expect(this.#classOf.get(claim)).toBe('wait');
    const known = this.#volumeOf.get(claim);
    const volume = known ?? `made-${claim}`;
    // Members that share it are on one node.
    if (known !== undefined) expect(this.#hostOf.get(volume)).toBe(node);
    this.#hostOf.set(volume, node);
    this.#volumeOf.set(claim, volume);
    this.#show(claim, volume, node);
  }

  #show(claim: string, volume: string, selectedNode?: string): void {
    const node = this.#hostOf.get(volume);
    const storageClass = this.#classOf.get(claim)!;
    const sizes = { size: `${this.#sizeOf.get(volume) ?? this.#sizeOf.get(claim)!}Gi` };
    const where = { ...(node !== undefined && { node }), ...(selectedNode !== undefined && { selectedNode }) };
    this.world.bind(claim, volume, { storageClass, ...sizes, ...where });
  }

  #expectReachable(claim: string, nodeName: string): void {
    const volume = this.#volumeOf.get(claim);
    expect(volume).toBeDefined();
    expect([undefined, nodeName]).toContain(this.#hostOf.get(volume!));
  }

  /** Checks that assumptions equal the state in the API. */
  #expectNothingAssumed(): void {
    const { listed, assumedVolumes } = this.world.harness.cluster;
    for (const name of this.#hostOf.keys()) {
      expect(assumedVolumes.volume(name)).toBe(listed.get('PersistentVolume', '', name));
    }
    for (const claim of listed.in('PersistentVolumeClaim', 'default')) {
      expect(assumedVolumes.claim('default', claim.name)).toBe(claim);
    }
  }
}

it('gives each claim of a gang one matching volume on its node, no volume to two claims, and no volume to a rejected gang', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const story = new Story(seed);
      for (let i = 0; i < 5; i++) {
        story.addVolumes();
        await story.playGang();
      }
    }),
    { numRuns: 150 },
  );
});
