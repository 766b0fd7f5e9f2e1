import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { podPath } from '../../api/pod-path.ts';
import { isTerminalPhase } from './kubelet-pod.ts';
import type { KubeletPod } from './kubelet-pod.ts';
import type { Rejection } from './node-capacity.ts';
import { persist } from './persist.ts';
import { podStatus, rejectedStatus } from './pod-status.ts';
import type { ContainerProgress, FinishedRun } from './pod-status.ts';
import type { Rendezvous } from './rendezvous.ts';
import { readSimulation, SimulationError } from './simulation-annotations.ts';
import type { Simulation, SimulationDefaults } from './simulation-annotations.ts';
import type { OnSimulationProblem } from './simulation-problem.ts';

/** The node of a pod, as its worker uses it. */
export interface PodHost {
  readonly hostIP: string;
  /** Allocates capacity for the pod, or resolves with the reason why it does not fit. Rejects only when the node stops. */
  admit(pod: KubeletPod): Promise<Rejection | undefined>;
  /** Allocates capacity for a running pod without a check. */
  take(pod: KubeletPod): void;
  release(pod: KubeletPod): void;
}

export interface PodWorkerOptions {
  readonly client: Pick<KubeClient, 'patch' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly host: PodHost;
  readonly rendezvous: Rendezvous;
  readonly defaults: SimulationDefaults;
  readonly podIP: string;
  readonly onProblem: OnSimulationProblem;
}

/**
 * - new: `begin` has not been called.
 * - admitting: the node checks whether the pod fits.
 * - creating: the containers are starting.
 * - meeting: the containers run and wait for the other members of the group.
 * - running: the run duration has started.
 * - restarting: the containers have ended and wait for the next run.
 * - ended: the pod ended, or another client set a final phase.
 * - terminating: the pod is being deleted, and its containers are ending.
 * - left: the worker is done with the pod.
 */
type State =
  | { readonly name: 'new' | 'admitting' | 'ended' | 'left' }
  | { readonly name: 'creating' | 'restarting' | 'terminating'; readonly timer: Timer }
  | { readonly name: 'meeting'; readonly giveUp: () => void }
  | { readonly name: 'running'; readonly timer: Timer | undefined };

/** States in which the pod counts against its deadline. */
const activeStates: ReadonlySet<State['name']> = new Set(['creating', 'meeting', 'running', 'restarting']);

/** Back-off of a kubelet, from the third run on. The second run follows the first at once. */
const restartBackoff: BackoffPolicy = { initialMs: 10_000, maxMs: 300_000 };

/** Exit code of a container that ends on SIGTERM: 128 + 15. */
const terminatedExitCode = 143;

/** The kubelet's reason and message for a pod that it ends at spec.activeDeadlineSeconds. */
const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

/** Simulates a kubelet for one pod, from admission to deletion. */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #stop = new AbortController();
  #pod: KubeletPod;
  #state: State = { name: 'new' };
  #simulation: Simulation | undefined;
  #acceptedAt = 0;
  #startedAt = 0;
  #restartCount = 0;
  /** Set while the pod is active and has a deadline. */
  #deadline: Timer | undefined;
  #lastRun: FinishedRun | undefined;
  /** The newest unsent status. It replaces any older unsent one. */
  #unsent: Record<string, unknown> | undefined;
  /** Settles when no status is left to write; undefined if none is being written. */
  #writing: Promise<void> | undefined;
  #deleting: Promise<void> | undefined;

  constructor(pod: KubeletPod, options: PodWorkerOptions) {
    this.#pod = pod;
    this.#options = options;
  }

  /** Starts from the current state of the pod. A running pod keeps running, and its run duration and deadline restart. */
  begin(): void {
    const pod = this.#pod;
    this.#acceptedAt = this.#options.clock.now();
    this.#startedAt = this.#acceptedAt;
    if (pod.isDeleting) {
      this.#terminate(0);
      return;
    }
    if (isTerminalPhase(pod.phase)) {
      this.#state = { name: 'ended' };
      return;
    }
    try {
      this.#simulation = readSimulation(pod.annotations, pod.groupKey !== undefined, this.#options.defaults);
    } catch (error) {
      if (!(error instanceof SimulationError)) throw error;
      this.#reject('InvalidSimulation', error.message);
      return;
    }
    if (pod.phase === 'Running') {
      this.#options.host.take(pod);
      this.#startRunTime();
      this.#watchDeadline();
    } else {
      this.#state = { name: 'admitting' };
      void this.#admit();
    }
  }

  /** Whether the pod will change without outside help: it is being admitted, started or ended, or its run duration is finite, or it has a deadline. */
  get isMoving(): boolean {
    const state = this.#state;
    if (this.#writing !== undefined || this.#deadline !== undefined || state.name === 'admitting') return true;
    return 'timer' in state && state.timer !== undefined;
  }

  /** Takes the current state of the pod from the API. */
  update(pod: KubeletPod): void {
    const { deadlineMs } = this.#pod;
    this.#pod = pod;
    const { name } = this.#state;
    if (name === 'left' || name === 'terminating') return;
    if (pod.isDeleting) {
      const hasRun = name === 'meeting' || name === 'running' || name === 'restarting';
      this.#terminate(hasRun ? Math.min(pod.graceMs, this.#simulation?.terminationMs ?? 0) : 0);
    } else if (isTerminalPhase(pod.phase) && name !== 'ended') {
      this.#cancel();
      this.#unsent = undefined;
      this.#options.host.release(pod);
      this.#state = { name: 'ended' };
    } else if (pod.deadlineMs !== deadlineMs) {
      this.#watchDeadline();
    }
  }

  /** Stops all work for the pod and writes nothing more. Resolves when no call is in progress. */
  async stop(): Promise<void> {
    this.#leave();
    await Promise.all([this.#writing, this.#deleting]);
  }

  async #admit(): Promise<void> {
    const { clock, host } = this.#options;
    let rejection: Rejection | undefined;
    try {
      rejection = await host.admit(this.#pod);
    } catch {
      return; // the node is stopping
    }
    if (this.#state.name !== 'admitting') {
      host.release(this.#pod);
    } else if (rejection !== undefined) {
      this.#reject(rejection.reason, `Pod was rejected: ${rejection.message}`);
    } else {
      this.#write({ name: 'creating' });
      const timer = clock.setTimer(this.#simulation!.startLatencyMs, () => this.#run());
      this.#state = { name: 'creating', timer };
      this.#watchDeadline();
    }
  }

  #reject(reason: string, message: string): void {
    this.#state = { name: 'ended' };
    this.#send(rejectedStatus(reason, message));
  }

  #run(): void {
    this.#startedAt = this.#options.clock.now();
    this.#write({ name: 'running', startedAt: this.#startedAt });
    this.#startRunTime();
  }

  #startRunTime(): void {
    const { rendezvous } = this.#simulation!;
    const { namespace, groupName } = this.#pod;
    if (rendezvous === undefined || groupName === undefined) {
      this.#compute();
      return;
    }
    const group = { namespace, name: groupName };
    const giveUp = this.#options.rendezvous.join(group, rendezvous, () => {
      if (this.#state.name === 'meeting') this.#compute();
    });
    this.#state = { name: 'meeting', giveUp };
  }

  #compute(): void {
    const { runDurationMs } = this.#simulation!;
    const timer =
      runDurationMs === undefined ? undefined : this.#options.clock.setTimer(runDurationMs, () => this.#finish());
    this.#state = { name: 'running', timer };
  }

  #finish(): void {
    const { clock } = this.#options;
    const { exitCode } = this.#simulation!;
    const run: FinishedRun = { exitCode, startedAt: this.#startedAt, finishedAt: clock.now() };
    const { restartPolicy } = this.#pod;
    if (restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0)) {
      this.#lastRun = run;
      const delay = backoffDelay(restartBackoff, this.#restartCount);
      this.#restartCount++;
      this.#state = { name: 'restarting', timer: clock.setTimer(delay, () => this.#run()) };
      if (delay > 0) this.#write({ name: 'restarting' });
      return;
    }
    this.#end(run);
  }

  /** Waits for the deadline of an active pod, and ends the pod then. The clock may cut a long delay, so it checks the time again. */
  #watchDeadline(): void {
    const { clock } = this.#options;
    const { deadlineMs } = this.#pod;
    this.#deadline?.cancel();
    this.#deadline = undefined;
    if (deadlineMs === undefined || !activeStates.has(this.#state.name)) return;
    const now = clock.now();
    const leftMs = this.#acceptedAt + deadlineMs - now;
    if (leftMs > 0) {
      this.#deadline = clock.setTimer(leftMs, () => this.#watchDeadline());
    } else {
      this.#end({ exitCode: terminatedExitCode, startedAt: this.#startedAt, finishedAt: now }, deadlineExceeded);
    }
  }

  #end(run: FinishedRun, cause?: typeof deadlineExceeded): void {
    this.#cancel();
    this.#options.host.release(this.#pod);
    this.#state = { name: 'ended' };
    this.#write({ name: 'ended', run }, cause);
  }

  #terminate(delayMs: number): void {
    // If the pod has ended, that status is already being sent.
    const hasEnded = this.#state.name === 'ended';
    this.#cancel();
    const timer = this.#options.clock.setTimer(delayMs, () => {
      this.#options.host.release(this.#pod);
      if (!hasEnded) this.#reportEnd();
      this.#deleting = this.#delete();
    });
    this.#state = { name: 'terminating', timer };
  }

  /** Reports the end of a deleted pod with finalizers, whose owners wait for it. For other pods, the deletion is enough. */
  #reportEnd(): void {
    if (!this.#pod.hasFinalizers || isTerminalPhase(this.#pod.phase)) return;
    const run = { exitCode: terminatedExitCode, startedAt: this.#startedAt, finishedAt: this.#options.clock.now() };
    this.#write({ name: 'ended', run });
  }

  async #delete(): Promise<void> {
    const { client, clock, random } = this.#options;
    const { signal } = this.#stop;
    await this.#writing;
    const body = { gracePeriodSeconds: 0, preconditions: { uid: this.#pod.uid } };
    try {
      const outcome = await persist(() => client.delete(podPath(this.#pod), body, { signal }), {
        clock,
        random,
        signal,
      });
      if (outcome.name === 'rejected') this.#report('cannot delete terminated pod', outcome.error);
    } catch {
      return; // stopped
    }
    this.#leave();
  }

  #write(progress: ContainerProgress, cause?: typeof deadlineExceeded): void {
    const { clock, host, podIP } = this.#options;
    this.#send({
      ...podStatus({
        pod: this.#pod,
        progress,
        acceptedAt: this.#acceptedAt,
        changedAt: clock.now(),
        hostIP: host.hostIP,
        podIP: this.#pod.usesHostNetwork ? host.hostIP : podIP,
        restartCount: this.#restartCount,
        lastRun: this.#lastRun,
      }),
      ...cause,
    });
  }

  #send(status: Record<string, unknown>): void {
    this.#unsent = status;
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
  }

  async #writeAll(): Promise<void> {
    const { client, clock, random } = this.#options;
    const { signal } = this.#stop;
    const path = `${podPath(this.#pod)}/status`;
    let status: Record<string, unknown> | undefined;
    const write = (): Promise<unknown> => {
      // A newer status replaces the one whose write failed.
      status = this.#unsent ?? status;
      this.#unsent = undefined;
      return client.patch(path, 'strategic-merge', { metadata: { uid: this.#pod.uid }, status }, { signal });
    };
    try {
      while (this.#unsent !== undefined) {
        const outcome = await persist(write, { clock, random, signal });
        if (outcome.name === 'rejected') this.#report('cannot write pod status', outcome.error);
        if (outcome.name === 'gone') this.#unsent = undefined;
      }
    } catch {
      this.#unsent = undefined; // stopped
    }
  }

  #report(message: string, error: Error): void {
    this.#options.onProblem({ message, subject: `pod ${this.#pod.namespace}/${this.#pod.name}`, error });
  }

  #leave(): void {
    if (this.#state.name === 'left') return;
    this.#cancel();
    this.#unsent = undefined;
    this.#options.host.release(this.#pod);
    this.#state = { name: 'left' };
    this.#stop.abort(new Error('the pod is no longer on this node'));
  }

  #cancel(): void {
    const state = this.#state;
    this.#deadline?.cancel();
    this.#deadline = undefined;
    if ('timer' in state) state.timer?.cancel();
    if (state.name === 'meeting') state.giveUp();
  }
}
