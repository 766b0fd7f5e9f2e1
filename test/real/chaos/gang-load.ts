import { podGroupPath } from '../../../src/api/pod-group.ts';
import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import type { Random } from '../../../src/base/random.ts';
import { AlreadyExistsError, NotFoundError } from '../../../src/client/api-errors.ts';
import type { KubeClient } from '../../../src/client/kube-client.ts';
import { podManifest } from '../../scenarios/pod-manifest.ts';
import { atOnce } from '../at-once.ts';

export interface GangLoadOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly random: Random;
  /** Number of gangs that should wait at any time. */
  readonly waiting: number;
  /** Merged into the spec of each PodGroup. */
  readonly groupSpec: object;
  /** Returns how many of these pods (by name) are bound now. */
  readonly countBound: (names: readonly string[]) => number;
  /** Returns which of these pods (by name) do not exist now. */
  readonly absent: (names: readonly string[]) => readonly string[];
}

/** State of a gang that was created. */
interface MadeGang {
  readonly name: string;
  readonly members: readonly string[];
  readonly cpu: number;
  readonly minMember: number;
  readonly uid: string;
  /** performance.now() at which it finishes; undefined: it has not been seen complete. */
  endsAt: number | undefined;
}

interface LonePod {
  readonly name: string;
  endsAt: number | undefined;
}

const turnMs = 50;
const loneWaiting = 3;

/**
 * Creates gangs of 2 to 8 members that run for a second or two once they are complete, and are then deleted, with single pods among them.
 * Some always wait for capacity. Like a Job, it recreates a member that was deleted.
 */
export class GangLoad {
  readonly #options: GangLoadOptions;
  readonly #gangs = new Set<MadeGang>();
  readonly #pods = new Set<LonePod>();
  #made = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: GangLoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops creating pods; rejects with the error of the load, if any. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  get made(): number {
    return this.#made;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#turn();
      await new Promise((resolve) => setTimeout(resolve, turnMs));
    }
  }

  async #turn(): Promise<void> {
    const { waiting, countBound, random, absent } = this.#options;
    const now = performance.now();
    let waitingGangs = 0;
    for (const gang of [...this.#gangs]) {
      if (gang.endsAt === undefined && countBound(gang.members) === gang.members.length) {
        gang.endsAt = now + 500 + 2_000 * random();
      }
      if (gang.endsAt === undefined) {
        waitingGangs++;
        await this.#createPods(gang, absent(gang.members));
      } else if (gang.endsAt < now) {
        await this.#removeGang(gang);
      }
    }
    let waitingPods = 0;
    for (const pod of [...this.#pods]) {
      if (pod.endsAt === undefined && countBound([pod.name]) === 1) pod.endsAt = now + 2_000 * random();
      if (pod.endsAt === undefined) waitingPods++;
      else if (pod.endsAt < now) await this.#removePod(pod);
    }
    if (waitingGangs < waiting) await this.#createGang();
    if (waitingPods < loneWaiting && random() < 0.2) await this.#createLonePod();
  }

  async #createGang(): Promise<void> {
    const { client, namespace, random, groupSpec } = this.#options;
    const minMember = 2 + Math.floor(random() * 7);
    const size = minMember + (random() < 0.2 ? 2 : 0);
    const name = `gang-${++this.#made}`;
    const { metadata } = await client.create<{ readonly metadata: { readonly uid: string } }>(podGroupPath(namespace), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name },
      spec: { minMember, ...groupSpec },
    });
    const members = Array.from({ length: size }, (_, index) => `${name}-${index}`);
    const cpu = 1 + Math.floor(random() * 3);
    const gang = { name, members, cpu, minMember, uid: metadata.uid, endsAt: undefined };
    await this.#createPods(gang, members);
    this.#gangs.add(gang);
  }

  /** The group owns its members, so that they count as pods with a controller. */
  async #createPods({ name: group, cpu, uid }: MadeGang, names: readonly string[]): Promise<void> {
    const { client, namespace } = this.#options;
    const owner = { apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup', name: group, uid, controller: true };
    await atOnce(names, (name) => {
      const pod = podManifest(name, namespace, { group, cpu }) as { readonly metadata: object };
      const metadata = { ...pod.metadata, ownerReferences: [owner] };
      return client.create(`/api/v1/namespaces/${namespace}/pods`, { ...pod, metadata }).catch((error: unknown) => {
        // It was created a moment ago, and no watch has shown it yet.
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
    });
  }

  async #createLonePod(): Promise<void> {
    const { client, namespace } = this.#options;
    const name = `lone-${++this.#made}`;
    await client.create(`/api/v1/namespaces/${namespace}/pods`, podManifest(name, namespace, { cpu: 1 }));
    this.#pods.add({ name, endsAt: undefined });
  }

  async #removeGang(gang: MadeGang): Promise<void> {
    const { client, namespace } = this.#options;
    const selector = new URLSearchParams({ labelSelector: `${podGroupLabel}=${gang.name}` });
    this.#gangs.delete(gang);
    await client.delete(`/api/v1/namespaces/${namespace}/pods?${selector.toString()}`, { gracePeriodSeconds: 0 });
    await client.delete(podGroupPath(namespace, gang.name));
  }

  async #removePod(pod: LonePod): Promise<void> {
    const { client, namespace } = this.#options;
    this.#pods.delete(pod);
    const path = `/api/v1/namespaces/${namespace}/pods/${pod.name}`;
    await client.delete(path, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
  }
}
