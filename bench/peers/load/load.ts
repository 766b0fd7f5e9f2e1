/**
 * The load generator. It is a separate process, so that its cost does not affect the measurements. It handles LoadRequests from its parent,
 * one at a time, and ends with the parent.
 */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { toError } from '../../../src/base/to-error.ts';
import { monotonicNow } from '../monotonic-now.ts';
import { fittingPods, gangOfEachPod, podCount } from '../workload.ts';
import { ApiCaller } from './api-caller.ts';
import type { LoadReply, LoadRequest } from './load-protocol.ts';
import { namespace, podIndex, podManifest, podName, podPath, victimNamespace } from './manifests.ts';
import type { PodKind } from './manifests.ts';
import { PodWatch } from './pod-watch.ts';
import { createGroups, seed, untilPodGroupsAreServed } from './seed.ts';

const connections = 32;
const pods = podPath(namespace);

class Load {
  readonly #request: Extract<LoadRequest, { kind: 'prepare' }>;
  readonly #caller: ApiCaller;
  /** A separate connection, so that watch events do not wait behind responses. */
  readonly #watchCaller: ApiCaller;
  readonly #watch = new PodWatch();
  readonly #victims = new PodWatch();
  readonly #podKind: PodKind;
  #watchFailure: Error | undefined;

  constructor(request: Extract<LoadRequest, { kind: 'prepare' }>) {
    this.#request = request;
    this.#caller = new ApiCaller(request.target, connections);
    this.#watchCaller = new ApiCaller(request.target, 2);
    const { workload, groups, schedulerName } = request;
    this.#podKind = {
      groups: workload.gangSize === 1 ? 'none' : groups,
      schedulerName,
      placing: workload.placing,
      cpu: workload.podCpu,
      priority: workload.victims === undefined ? undefined : 'high',
    };
  }

  async prepare(): Promise<void> {
    const { gangs, gangSize, victims } = this.#request.workload;
    const { groups, priority } = this.#podKind;
    await untilPodGroupsAreServed(this.#caller);
    await createGroups(this.#caller, groups, namespace, gangs, gangSize, priority);
    await this.#follow(this.#watch, pods);
    if (victims !== undefined) await this.#follow(this.#victims, podPath(victimNamespace));
  }

  async #follow(watch: PodWatch, path: string): Promise<void> {
    const list = (await this.#watchCaller.call('GET', `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
    const open = (from: string): Promise<AsyncIterable<Uint8Array>> =>
      this.#watchCaller.stream(`${path}?watch=true&timeoutSeconds=7200&resourceVersion=${from}`);
    watch.follow(open, list.metadata.resourceVersion).catch((error: unknown) => {
      this.#watchFailure = toError(error);
    });
  }

  /** Creates the pods. Resolves when the watch has shown all of them. */
  async create(): Promise<LoadReply> {
    const gangOf = gangOfEachPod(this.#request.workload);
    const firstAt = monotonicNow();
    await this.#caller.each(gangOf.length, (index) =>
      this.#caller.call('POST', pods, podManifest(this.#podKind, index, gangOf[index]!)),
    );
    const lastAt = monotonicNow();
    while (this.#watch.seen < gangOf.length) {
      this.#check();
      if (monotonicNow() > lastAt + 60_000) throw new Error('the watch did not show all pods within a minute');
      await sleep(5);
    }
    return { kind: 'create', firstAt, lastAt };
  }

  async awaitBound(limitMs: number, stallMs: number): Promise<LoadReply> {
    const startedAt = monotonicNow();
    for (;;) {
      this.#check();
      if (this.#isComplete()) return { kind: 'await', complete: true };
      const now = monotonicNow();
      if (now - startedAt > limitMs || now - Math.max(startedAt, this.#watch.lastBindAt ?? 0) > stallMs) {
        return { kind: 'await', complete: false };
      }
      await sleep(20);
    }
  }

  /** Returns whether as many gangs are complete as fit. Pods of other gangs may be bound too, so the number of pods is not sufficient. */
  #isComplete(): boolean {
    const { workload } = this.#request;
    if (this.#watch.bound < fittingPods(workload)) return false;
    if (workload.fitting === workload.gangs) return true;
    const boundOf = new Uint32Array(workload.gangs);
    for (const [index, gang] of gangOfEachPod(workload).entries()) {
      if (this.#watch.timesOf(podName(index))?.boundAt !== undefined) boundOf[gang]!++;
    }
    return boundOf.filter((bound) => bound === workload.gangSize).length >= workload.fitting;
  }

  report(): LoadReply {
    this.#check();
    const gangOf = gangOfEachPod(this.#request.workload);
    return {
      kind: 'report',
      watchRestarts: this.#watch.restarts,
      evicted: [...this.#victims.deleted].map(podIndex),
      pods: Array.from({ length: podCount(this.#request.workload) }, (_, index) => {
        const { createdAt, boundAt } = this.#watch.timesOf(podName(index))!;
        return { gang: gangOf[index]!, createdAt, ...(boundAt !== undefined && { boundAt }) };
      }),
    };
  }

  #check(): void {
    if (this.#watchFailure !== undefined) throw this.#watchFailure;
  }
}

let load: Load | undefined;

async function answer(request: LoadRequest): Promise<LoadReply> {
  if (request.kind === 'seed') {
    const caller = new ApiCaller(request.target, connections);
    await seed(caller, request);
    await caller.close();
    return { kind: 'seed' };
  }
  if (request.kind === 'prepare') {
    load = new Load(request);
    await load.prepare();
    return { kind: 'prepare' };
  }
  if (load === undefined) throw new Error('the load was not prepared');
  switch (request.kind) {
    case 'create':
      return load.create();
    case 'await':
      return load.awaitBound(request.limitMs, request.stallMs);
    case 'report':
      return load.report();
  }
}

process.on('message', (request: LoadRequest) => {
  answer(request)
    .catch((error: unknown): LoadReply => ({ kind: 'failed', message: String(error) }))
    .then((reply) => process.send!(reply))
    .catch(() => process.exit(1));
});
process.on('disconnect', () => process.exit(0));
