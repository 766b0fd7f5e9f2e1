import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Verdict } from '../api/verdict.ts';
import { enableOwn, registryWith } from '../compose/own-plugins.ts';
import { profileFrom } from '../compose/profile-options.ts';
import type { ProfileOptions } from '../compose/profile-options.ts';
import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import type { EntityKey } from '../queue/queued-entity.ts';
import type { NodeOptions } from './builders/node.ts';
import type { PodGroupOptions } from './builders/pod-group.ts';
import type { PodOptions } from './builders/pod.ts';
import { ExpectationError } from './expectation-error.ts';
import { KeptLines } from './kept-lines.ts';
import type { LogLine } from './kept-lines.ts';
import { describePodState } from './pod-state.ts';
import type { PodState } from './pod-state.ts';
import { Scheduling } from './scheduling.ts';

export interface TestSchedulerOptions {
  /** As `createScheduler` takes them. */
  readonly plugins?: readonly OwnPlugin[];
  /** As `createScheduler` takes them. Default: one, `default-scheduler`, with Tutti's plugins. */
  readonly profiles?: readonly ProfileOptions[];
  /** Of the chance that plugins and ties take; the same seed, the same run. Default 1. */
  readonly seed?: number;
}

/** Attempts and Bindings without which a scheduler that has something to do comes to rest. */
const mostSteps = 100_000;

/**
 * A scheduler to test plugins in: the real one, all but its loop and its network. The clock stands still until `advance` moves it,
 * and Bindings are accepted at once. What the test sets is what an API server would show.
 *
 * Pods, nodes and groups are named; a pod or group outside of the namespace `default` as `namespace/name`. Expectations first let
 * the scheduler do all that it can do now, and throw ExpectationError.
 */
export class TestScheduler {
  readonly #core: Scheduling;
  readonly #logger = new KeptLines();
  /** pod uid -> what it was told last */
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

  /** Milliseconds since the epoch. It begins with 2026. */
  get now(): number {
    return this.#core.harness.clock.now();
  }

  /** What was logged, by plugins and by the scheduler. */
  get logs(): readonly LogLine[] {
    return this.#logger.lines;
  }

  /** Adds the node, or changes it when there is one of this name. Default: 4 CPU, 16Gi, 110 pods. */
  setNode(options: NodeOptions & { readonly name: string }): void {
    this.#core.node(options);
  }

  removeNode(name: string): void {
    this.#core.removeNode(name);
  }

  /** Adds the pod, or changes it when there is one of this name. Default: it requests nothing. */
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

  /** Adds the PodGroup, or changes it when there is one of this name. */
  setGroup(options: PodGroupOptions & { readonly name: string }): void {
    this.#core.group({ createdAt: this.now, ...options });
  }

  removeGroup(name: string): void {
    this.#core.removeGroup(keyOf(name));
  }

  /** Resolves when the scheduler has nothing to do until something changes or time goes by. */
  async run(): Promise<void> {
    for (let step = 0; step < mostSteps; step++) {
      // Whatever plugins do without waiting for time is done after a turn.
      await nextTurn();
      const bind = this.#core.binds[0];
      if (bind !== undefined) await this.#accept(bind.binding);
      else if (this.#core.harness.core.attempt() === undefined) {
        await nextTurn();
        if (this.#core.binds.length === 0) return;
      }
    }
    throw new Error(`the scheduler does not come to rest: it has done ${mostSteps} steps at the same time`);
  }

  /** Lets so much time go by. Whatever falls due on the way is done when it does. */
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

  /** What has become of the pod. */
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

  /** The pod is bound, to this node if one is named. */
  async expectBound(name: string, nodeName?: string): Promise<void> {
    const state = await this.#settledStateOf(name);
    if (state.kind === 'bound' && (nodeName === undefined || state.nodeName === nodeName)) return;
    throw unexpected(name, nodeName === undefined ? 'to be bound' : `to be bound to ${nodeName}`, state);
  }

  /** The pod is rejected, by this plugin, with a message that has or matches this, if they are stated. */
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
    const wish = ['to be rejected', by === undefined ? '' : ` by ${by}`, says === undefined ? '' : `: ${String(says)}`];
    throw unexpected(name, wish.join(''), state);
  }

  /** The pod waits at Permit, for this plugin and on this node if they are stated. */
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

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    const stopped = this.#core.harness.core.stop();
    // Plugins that hang are not waited for.
    await this.#core.settle();
    this.#core.harness.clock.advance(60_000);
    await stopped;
  }

  async #settledStateOf(name: string): Promise<PodState> {
    await this.run();
    return this.stateOf(name);
  }

  /** The API server takes the Binding, and shows the pod on its node. */
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

/** namespace/name, which is the uid of pods here. */
function keyOf(name: string): string {
  return name.includes('/') ? name : `default/${name}`;
}

function unexpected(name: string, wish: string, state: PodState): ExpectationError {
  return new ExpectationError(`expected pod ${name} ${wish}, but it ${describePodState(state)}`);
}
