import { toKubernetesTime } from '../../src/api/kubernetes-time.ts';
import type { PodGroupStatus } from '../../src/api/pod-group.ts';
import type { RawCondition } from '../../src/api/pod.ts';
import { predictedStartCondition } from '../../src/api/predicted-start.ts';
import type { StartConfidence } from '../../src/api/verdict.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { defaultReservations } from '../../src/config/scheduler-configuration.ts';
import type { ReservationsConfiguration } from '../../src/config/scheduler-configuration.ts';
import { expectVerdict } from '../expect/expect-verdict.ts';
import type { WatchedPod } from '../expect/watched.ts';
import { keyOf } from '../expect/watched.ts';
import { hangsMs } from '../planes/patience.ts';
import { poll } from '../planes/poll.ts';
import { AdvancingClock } from './advancing-clock.ts';
import type { PodSpec } from './pod-manifest.ts';
import type { Stage } from './stage.ts';

/** How long an entity waits before it may have a turn, and how often a turn is predicted again. */
const reserveAfterMs = 1_000;
const predictEverySeconds = 30;

/** A scheduler with reservations on a clock that the scenario moves, and pods that run for minutes of that clock. */
export class BackfillStage {
  readonly stage: Stage;
  readonly clock: AdvancingClock;
  scheduler: RunningProcess;
  /** Pods that were created on their node. */
  readonly #placed = new Set<string>();

  private constructor(stage: Stage, clock: AdvancingClock, scheduler: RunningProcess) {
    this.stage = stage;
    this.clock = clock;
    this.scheduler = scheduler;
  }

  /** Starts the controller and a scheduler. */
  static async open(stage: Stage, reservations: Partial<ReservationsConfiguration> = {}): Promise<BackfillStage> {
    const clock = new AdvancingClock();
    await stage.startController();
    return new BackfillStage(stage, clock, await startWith(stage, clock, reservations));
  }

  /** Ends the scheduler and starts another one, which knows only what the API server does. */
  async restartScheduler(): Promise<void> {
    await this.scheduler.stop();
    this.scheduler = await startWith(this.stage, this.clock, {});
  }

  /** Creates a pod that runs on the node since now. `runtime`: what it declares, in seconds. */
  async run(name: string, nodeName: string, spec: PodSpec & { readonly runtime?: number }): Promise<string> {
    const key = await this.stage.createPod(name, { ...declared(spec), nodeName });
    this.#placed.add(key);
    await this.start(key);
    return key;
  }

  /** Starts pods as their kubelet reports it. */
  async start(...pods: readonly string[]): Promise<void> {
    const startTime = toKubernetesTime(this.clock.now());
    for (const key of pods) await this.stage.setPodStatus(key, { phase: 'Running', startTime });
  }

  /** Creates a pod that has yet to be scheduled. */
  create(name: string, spec: PodSpec & { readonly runtime?: number }): Promise<string> {
    return this.stage.createPod(name, declared(spec));
  }

  /** Creates a gang of pods that each need four CPUs. Returns its members. */
  async createGang(name: string, count: number, spec: PodSpec & { readonly runtime?: number } = {}): Promise<string[]> {
    await this.stage.createGroup(name, { minMember: count });
    return this.stage.createPods(name, count, { cpu: 4, ...declared(spec), group: name });
  }

  /** Ends pods as their kubelet reports it. */
  async end(...pods: readonly string[]): Promise<void> {
    for (const key of pods) await this.stage.setPodStatus(key, { phase: 'Succeeded' });
  }

  /** Lets it be this much later, for the scheduler. First waits until no Binding is in flight: it would time out. */
  async advanceSeconds(seconds: number): Promise<void> {
    const { record, logs, namespace } = this.stage;
    await poll(() => {
      const bound = new Set<string>();
      for (const { object } of record.pods.changes)
        if (object.metadata.namespace === namespace && object.spec.nodeName !== undefined) bound.add(keyOf(object));
      const expected = [...bound].filter((key) => !this.#placed.has(key)).length;
      let known = 0;
      for (const { message, fields } of logs.lines) if (message === 'scheduled') known += Number(fields.pods);
      return Promise.resolve(known >= expected ? undefined : `it knows of ${known} of ${expected} pods`);
    }, 'the scheduler knows that its pods are bound');
    this.clock.advance(seconds * 1_000);
  }

  /** Lets the time pass after which a turn is predicted again. */
  advanceToNextPrediction(): Promise<void> {
    return this.advanceSeconds(predictEverySeconds);
  }

  /** Waits until the pods do not fit, lets the time pass after which they may have a turn, and waits for the turn. */
  async expectTurn(pods: readonly string[], says: string): Promise<void> {
    await expectVerdict(this.stage.record, pods, { reason: 'Unschedulable' });
    await this.advanceSeconds(reserveAfterMs / 1_000);
    await expectVerdict(this.stage.record, pods, { reason: 'Unschedulable', says: [says] });
  }

  /** Waits until the group's status has a predicted start that is as expected. Returns it in milliseconds since the epoch. */
  async expectPredicted(
    group: string,
    confidence: StartConfidence,
    isAsExpected: (at: number) => boolean = () => true,
  ): Promise<number> {
    const { record, namespace } = this.stage;
    let at = NaN;
    await record.until(`${group} has a predicted start`, hangsMs, () => {
      const status: PodGroupStatus = record.podGroups.current.get(`${namespace}/${group}`)?.status ?? {};
      at = Date.parse(status.predictedStartTime ?? '');
      const isMet = status.startConfidence === confidence && (confidence === 'Draining' || isAsExpected(at));
      return isMet ? undefined : `${status.startConfidence} ${status.predictedStartTime}, now ${this.#now()}`;
    });
    return at;
  }

  /** Waits until neither the group's status nor its pods have a predicted start. */
  async expectNotPredicted(group: string): Promise<void> {
    const { record, namespace } = this.stage;
    await record.until(`${group} has no predicted start`, hangsMs, () => {
      const { startConfidence } = record.podGroups.current.get(`${namespace}/${group}`)?.status ?? {};
      return startConfidence === undefined ? undefined : `it is ${startConfidence}`;
    });
  }

  /** Asserts that none of the pods has ever had a predicted start. */
  expectNeverPredicted(pods: readonly string[]): void {
    for (const { object } of this.stage.record.pods.changes)
      if (pods.includes(keyOf(object)) && predictionOf(object) !== undefined)
        throw new Error(`${keyOf(object)} had a predicted start`);
  }

  /** Asserts that of these groups of pods, only one had a predicted start at any moment. */
  expectOneTurnAtATime(entities: readonly (readonly string[])[]): void {
    /** index of the entity that has a turn -> its pod */
    const turns = new Map<number, string>();
    for (const { type, object } of this.stage.record.pods.changes) {
      const index = entities.findIndex((pods) => pods.includes(keyOf(object)));
      if (index < 0) continue;
      const hasTurn = type !== 'DELETED' && object.spec.nodeName === undefined && predictionOf(object) !== undefined;
      if (hasTurn) turns.set(index, keyOf(object));
      else if (turns.get(index) === keyOf(object)) turns.delete(index);
      if (turns.size > 1)
        throw new Error(`${[...turns.values()].join(' and ')} have a predicted start at the same time`);
    }
  }

  /** Waits until a metric of the scheduler has this value. */
  async expectMetric(line: string): Promise<void> {
    await poll(async () => {
      const lines = (await (await fetch(`${this.scheduler.url}/metrics`)).text()).split('\n');
      const name = line.slice(0, line.search(/[{ ]/));
      return lines.includes(line) ? undefined : lines.filter((each) => each.startsWith(name)).join('\n');
    }, line);
  }

  #now(): string {
    return toKubernetesTime(this.clock.now());
  }
}

function startWith(
  stage: Stage,
  clock: AdvancingClock,
  reservations: Partial<ReservationsConfiguration>,
): Promise<RunningProcess> {
  return stage.startScheduler({ clock, reservations: { ...defaultReservations, reserveAfterMs, ...reservations } });
}

/** Adds the declaration of a run time. */
export function declared({ runtime, ...spec }: PodSpec & { readonly runtime?: number }): PodSpec {
  if (runtime === undefined) return spec;
  return { ...spec, annotations: { ...spec.annotations, 'tutti.dev/runtime': `${runtime}s` } };
}

function predictionOf({ status }: WatchedPod): RawCondition | undefined {
  return status?.conditions?.find(({ type, status: is }) => type === predictedStartCondition && is === 'True');
}
