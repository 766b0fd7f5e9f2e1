import type { KubeletContainer, KubeletPod } from './kubelet-pod.ts';
import { toKubernetesTime } from '../../api/kubernetes-time.ts';

/** State of a pod's containers. Times are milliseconds since the epoch. */
export type ContainerProgress =
  | { readonly name: 'creating' }
  | { readonly name: 'running'; readonly startedAt: number }
  | { readonly name: 'restarting' }
  | { readonly name: 'ended'; readonly run: FinishedRun };

/** A run that has ended. */
export interface FinishedRun {
  readonly exitCode: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

export interface PodStatusInput {
  readonly pod: KubeletPod;
  readonly progress: ContainerProgress;
  /** When the node accepted the pod. */
  readonly acceptedAt: number;
  readonly changedAt: number;
  readonly hostIP: string;
  readonly podIP: string;
  readonly restartCount: number;
  /** How the previous run ended; undefined for the first run. */
  readonly lastRun: FinishedRun | undefined;
}

type Json = Record<string, unknown>;

/** Returns a pod's status as a kubelet writes it. Omits conditions of other components (PodScheduled): the patch merges by type. */
export function podStatus(input: PodStatusInput): Json {
  const { pod, progress, acceptedAt, hostIP, podIP } = input;
  const hasSandbox = progress.name !== 'creating';
  return {
    phase: phaseOf(progress),
    startTime: toKubernetesTime(acceptedAt),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(hasSandbox ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    conditions: conditionsOf(input),
    ...(pod.initContainers.length + pod.sidecars.length === 0 ? {} : { initContainerStatuses: initStatuses(input) }),
    containerStatuses: pod.containers.map((container) => containerStatus(container, input)),
  };
}

/** Returns the status of a pod that the node rejected. */
export function rejectedStatus(reason: string, message: string): Json {
  return { phase: 'Failed', reason, message };
}

function phaseOf(progress: ContainerProgress): string {
  switch (progress.name) {
    case 'creating':
      return 'Pending';
    case 'running':
    case 'restarting':
      return 'Running';
    case 'ended':
      return progress.run.exitCode === 0 ? 'Succeeded' : 'Failed';
  }
}

function conditionsOf({ pod, progress, acceptedAt, changedAt }: PodStatusInput): Json[] {
  const ready = progress.name === 'running';
  const names = pod.containers.map((container) => container.name).join(' ');
  const notReady =
    progress.name === 'ended'
      ? { reason: progress.run.exitCode === 0 ? 'PodCompleted' : 'PodFailed' }
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` };
  const condition = (type: string, status: boolean, at: number, detail: Json = {}): Json => ({
    type,
    status: status ? 'True' : 'False',
    lastTransitionTime: toKubernetesTime(at),
    // An absent field of a merged element keeps its old value; null removes it.
    ...(status ? { reason: null, message: null } : { message: null, ...detail }),
  });
  return [
    condition('PodReadyToStartContainers', progress.name === 'running' || progress.name === 'restarting', changedAt),
    condition('Initialized', progress.name !== 'creating' || pod.initContainers.length === 0, acceptedAt, {
      reason: 'ContainersNotInitialized',
    }),
    condition('ContainersReady', ready, changedAt, notReady),
    condition('Ready', ready, changedAt, notReady),
  ];
}

function containerStatus(container: KubeletContainer, input: PodStatusInput): Json {
  const { progress, restartCount, lastRun } = input;
  return {
    ...baseStatus(container),
    ready: progress.name === 'running',
    started: progress.name === 'running',
    restartCount,
    state: stateOf(progress),
    lastState: lastRun === undefined ? {} : { terminated: terminated(lastRun) },
  };
}

function stateOf(progress: ContainerProgress): Json {
  switch (progress.name) {
    case 'creating':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'running':
      return { running: { startedAt: toKubernetesTime(progress.startedAt) } };
    case 'restarting':
      return { waiting: { reason: 'CrashLoopBackOff', message: 'waiting to restart the container' } };
    case 'ended':
      return { terminated: terminated(progress.run) };
  }
}

function terminated(run: FinishedRun): Json {
  return {
    exitCode: run.exitCode,
    reason: run.exitCode === 0 ? 'Completed' : 'Error',
    startedAt: toKubernetesTime(run.startedAt),
    finishedAt: toKubernetesTime(run.finishedAt),
  };
}

/** Init containers take no time: they end as soon as the sandbox of the pod exists. Sidecars run as long as the pod. */
function initStatuses(input: PodStatusInput): Json[] {
  const { pod, progress, acceptedAt } = input;
  const done =
    progress.name === 'creating'
      ? { ready: false, started: false, state: { waiting: { reason: 'PodInitializing' } } }
      : {
          ready: true,
          started: false,
          state: { terminated: terminated({ exitCode: 0, startedAt: acceptedAt, finishedAt: acceptedAt }) },
        };
  const finished = pod.initContainers.map((container) => ({
    ...baseStatus(container),
    restartCount: 0,
    lastState: {},
    ...done,
  }));
  return [...finished, ...pod.sidecars.map((container) => containerStatus(container, input))];
}

function baseStatus({ name, image }: KubeletContainer): Json {
  return { name, image, imageID: `simulated://${image}`, containerID: '' };
}
