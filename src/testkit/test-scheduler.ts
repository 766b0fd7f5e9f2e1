import { setImmediate as nextTurn } from 'node:timers/promises';
import { groupKeyOf } from '../api/group-key.ts';
import type { Verdict } from '../api/verdict.ts';
import { enableOwn, registryWith } from '../compose/own-plugins.ts';
import { profileFrom } from '../compose/profile-options.ts';
import type { ProfileOptions } from '../compose/profile-options.ts';
import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import type { EntityKey } from '../queue/queued-entity.ts';
import type { NodeOptions } from './builders/node.ts';
import type { NativePodGroupOptions } from './builders/native-pod-group.ts';
import type { PodGroupOptions } from './builders/pod-group.ts';
import type { PodOptions } from './builders/pod.ts';
import { ExpectationError } from './expectation-error.ts';
import { RecordingLogger } from './recording-logger.ts';
import type { LogLine } from './recording-logger.ts';
import { describePodState } from './pod-state.ts';
import type { PodState } from './pod-state.ts';
import { Scheduling } from './scheduling.ts';

export interface TestSchedulerOptions {
  /** Plugins, as for `createScheduler`. */
  readonly plugins?: readonly OwnPlugin[];
  /** Profiles, as for `createScheduler`. Default: `default-scheduler` with Tutti's plugins. */
  readonly profiles?: readonly ProfileOptions[];
  /** Seed of the random numbers of plugins and tie-breaking. Runs with the same seed are identical. Default: 1. */
  readonly seed?: number;
}

/** Maximum number of attempts and Bindings before a busy scheduler must become idle. */
const maxSteps = 100_000;

/**
 * A scheduler for testing plugins: the real scheduler without its loop and its network. The clock only moves with `advance`. Bindings
 * succeed at once. The objects that the test sets are what an API server would return.
 *
 * Methods identify pods, nodes and groups by name; pods and groups outside the namespace `default` by `namespace/name`. Expectations first
 * run the scheduler until it is idle, and throw ExpectationError.
 */
export class TestScheduler {
  readonly #core: Scheduling;
  readonly #logger = new RecordingLogger();
  /** pod UID -> its latest verdict */
  readonly #verdicts = new Map<string, Verdict>();

  /** Throws ProfileError. */
  constructor({ plugins = [], profiles, seed = 1 }: TestSchedulerOptions = {}) {
    const configurations = profiles?.map(profileFrom) ?? enableOwn([defaultProfile('default-scheduler')], plugins);
    this.#core = new Scheduling({
      plugins: [],
      setup: { profiles: configurations, plugins: registryWith(plugins) },
      logger: this.#logger,
      seed,
      ports: {
        verdicts: {
          write: (pod, verdict) => {
            this.#verdicts.set(pod.uid, verdict);
            return Promise.resolve('written');
          },
        },
        evictor: {
          evict: ({ uid }) => {
            this.#core.removePod(uid);
            return Promise.resolve();
          },
          release: ({ uid }) => {
            this.#core.removePod(uid);
            return Promise.resolve('going');
          },
        },
      },
    });
  }

  /** Milliseconds since the epoch. Starts at the beginning of 2026. */
  get now(): number {
    return this.#core.harness.clock.now();
  }

  /** Log lines of plugins and of the scheduler. */
  get logs(): readonly LogLine[] {
    return this.#logger.lines;
  }

  /** Adds a node, or replaces the node with this name. Default: 4 CPU, 16Gi, 110 pods. */
  setNode(options: NodeOptions & { readonly name: string }): void {
    this.#core.node(options);
  }

  removeNode(name: string): void {
    this.#core.removeNode(name);
  }

  /** Adds a pod, or replaces the pod with this name. By default it has no requests. */
  setPod(options: PodOptions & { readonly name: string }): void {
    const uid = keyOf(`${options.namespace ?? 'default'}/${options.name}`);
    const old = this.#core.harness.cluster.pod(uid);
    this.#core.pod({
      uid,
      createdAt: old?.creationTimestamp ?? this.now,
      ...(old !== undefined && old.nodeName !== '' && { nodeName: old.nodeName }),
      ...options,
    });
  }

  /** Adds `<name>-0` to `<name>-<count - 1>`. */
  setPods(count: number, options: PodOptions & { readonly name: string }): void {
    for (let index = 0; index < count; index++) this.setPod({ ...options, name: `${options.name}-${index}` });
  }

  removePod(name: string): void {
    this.#core.removePod(keyOf(name));
  }

  /** Adds a PodGroup, or replaces the PodGroup with this name. */
  setGroup(options: PodGroupOptions & { readonly name: string }): void {
    this.#core.group({ createdAt: this.now, ...options });
  }

  /** Adds a PodGroup of Kubernetes itself, or replaces the one with this name. */
  setNativeGroup(options: NativePodGroupOptions & { readonly name: string }): void {
    this.#core.nativeGroup({ createdAt: this.now, ...options });
  }

  removeGroup(name: string): void {
    this.#core.removeGroup(keyOf(name));
  }

  removeNativeGroup(name: string): void {
    this.#core.removeGroup(groupKeyOf('scheduling.k8s.io', ...(keyOf(name).split('/') as [string, string])));
  }

  /** Runs the scheduler until it is idle: nothing happens until an object changes or the clock advances. */
  async run(): Promise<void> {
    for (let step = 0; step < maxSteps; step++) {
      // After one turn of the event loop, plugins that use no timer have finished.
      await nextTurn();
      const bind = this.#core.binds[0];
      if (bind !== undefined) await this.#accept(bind.binding);
      else if (this.#core.harness.core.attempt() === undefined) {
        await nextTurn();
        if (this.#core.binds.length === 0) return;
      }
    }
    throw new Error(`the scheduler does not become idle: it made ${maxSteps} steps without the clock advancing`);
  }

  /** Advances the clock. Timers on the way fire at their time. */
  async advance(ms: number): Promise<void> {
    const { clock } = this.#core.harness;
    await this.run();
    let left = ms;
    for (;;) {
      const next = clock.untilNextTimer();
      if (next === undefined || next > left) break;
      clock.advance(next);
      left -= next;
      await this.run();
    }
    clock.advance(left);
    await this.run();
  }

  /** Returns the state of the pod. */
  stateOf(name: string): PodState {
    const uid = keyOf(name);
    const { cluster, waitingPods, core } = this.#core.harness;
    const pod = cluster.pod(uid);
    if (pod === undefined) return { kind: 'unknown' };
    if (pod.nodeName !== '') return { kind: 'bound', nodeName: pod.nodeName };
    const waiting = waitingPods.get(uid);
    if (waiting !== undefined) {
      return { kind: 'waiting', nodeName: waiting.nodeName, plugins: waiting.pendingPlugins };
    }
    const nodeName = cluster.nodeOf(pod)?.name;
    if (nodeName !== undefined) return { kind: 'binding', nodeName };
    const keys: EntityKey[] = [`pod/${uid}`, `gang/${pod.podGroupKey ?? ''}`];
    const entity = keys.map((key) => core.queue.get(key)).find((found) => found !== undefined);
    const message = this.#verdicts.get(uid)?.message ?? '';
    switch (entity?.state.kind) {
      case undefined:
        return message === '' ? { kind: 'unknown' } : { kind: 'rejected', plugins: [], message };
      case 'gated':
        return { kind: 'rejected', plugins: [entity.state.status.plugin], message: entity.state.status.message };
      case 'backoff':
      case 'unschedulable':
        return { kind: 'rejected', plugins: [...entity.rejection.unschedulablePlugins], message };
      case 'active':
      case 'inFlight':
      case 'setAside':
        return { kind: 'queued' };
    }
  }

  /** Expects that the pod is bound, to `nodeName` if set. */
  async expectBound(name: string, nodeName?: string): Promise<void> {
    const state = await this.#settledStateOf(name);
    if (state.kind === 'bound' && (nodeName === undefined || state.nodeName === nodeName)) return;
    throw unexpected(name, nodeName === undefined ? 'to be bound' : `to be bound to ${nodeName}`, state);
  }

  /** Expects that the pod is rejected: by this plugin if `by` is set, with a message that contains or matches `says` if set. */
  async expectRejected(
    name: string,
    { by, says }: { readonly by?: string; readonly says?: string | RegExp } = {},
  ): Promise<void> {
    const state = await this.#settledStateOf(name);
    if (
      state.kind === 'rejected' &&
      (by === undefined || state.plugins.includes(by)) &&
      (says === undefined || (typeof says === 'string' ? state.message.includes(says) : says.test(state.message)))
    ) {
      return;
    }
    const expected = [
      'to be rejected',
      by === undefined ? '' : ` by ${by}`,
      says === undefined ? '' : `: ${String(says)}`,
    ];
    throw unexpected(name, expected.join(''), state);
  }

  /** Expects that the pod waits at Permit: for this plugin if `by` is set, on this node if `on` is set. */
  async expectWaiting(name: string, { by, on }: { readonly by?: string; readonly on?: string } = {}): Promise<void> {
    const state = await this.#settledStateOf(name);
    if (
      state.kind === 'waiting' &&
      (by === undefined || state.plugins.includes(by)) &&
      (on === undefined || state.nodeName === on)
    ) {
      return;
    }
    throw unexpected(
      name,
      `to wait at Permit${by === undefined ? '' : ` for ${by}`}${on === undefined ? '' : `, on ${on}`}`,
      state,
    );
  }

  /** Stops the scheduler and aborts attempts in progress. */
  async stop(): Promise<void> {
    const stopped = this.#core.harness.core.stop();
    // Do not wait for plugins that hang.
    await this.#core.settle();
    this.#core.harness.clock.advance(60_000);
    await stopped;
  }

  async #settledStateOf(name: string): Promise<PodState> {
    await this.run();
    return this.stateOf(name);
  }

  /** Accepts the Binding as the API server does, and delivers the watch event with the node. */
  async #accept({
    uid,
    name,
    nodeName,
  }: {
    readonly uid: string;
    readonly name: string;
    readonly nodeName: string;
  }): Promise<void> {
    await this.#core.accept(name);
    const pod = this.#core.harness.cluster.pod(uid);
    if (pod !== undefined) this.#core.show({ ...pod, nodeName, phase: 'Running' });
    this.#verdicts.delete(uid);
  }
}

/** Returns namespace/name, which the tests also use as the UID of pods. */
function keyOf(name: string): string {
  return name.includes('/') ? name : `default/${name}`;
}

function unexpected(name: string, expected: string, state: PodState): ExpectationError {
  return new ExpectationError(`expected pod ${name} ${expected}, but it ${describePodState(state)}`);
}
