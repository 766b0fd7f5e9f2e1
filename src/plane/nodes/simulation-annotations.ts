import { closestName } from '../../base/closest-name.ts';
import { parseDuration } from '../../base/parse-duration.ts';

/**
 * How a pod asks simulated nodes to play it; all are optional. A pod with a value that cannot be read fails at once, with the
 * reason InvalidSimulation and a message that says which annotation and what would be right.
 */
export const simulationAnnotations = {
  /**
   * How long the pod runs before it ends: a Go duration such as "2s" or "1m30s", or "never". Default: as the nodes are
   * configured, which by default is never.
   */
  runDuration: 'sim.tutti.dev/run-duration',
  /** What every container exits with when the run ends: "0" (the default: Succeeded) to "255". */
  exitCode: 'sim.tutti.dev/exit-code',
  /** How long the pod stays in ContainerCreating: a Go duration. Default: as the nodes are configured. */
  startLatency: 'sim.tutti.dev/start-latency',
  /** How long the pod takes to end when it is deleted, at most its grace period: a Go duration. Default: as configured. */
  termination: 'sim.tutti.dev/termination',
  /**
   * The members of a training job that compute only together: the pod's run time starts when so many members of its group (the
   * pods of its namespace with the same `scheduling.x-k8s.io/pod-group`, on whatever nodes) are in phase Running at the same
   * time. A number, or "minMember" for what the PodGroup says. Default: the run time starts with the pod.
   */
  rendezvous: 'sim.tutti.dev/rendezvous',
} as const;

/** What nodes do with pods that do not say. */
export interface SimulationDefaults {
  /** Milliseconds; absent: pods run until they are deleted. */
  readonly runDurationMs?: number;
  /** Milliseconds in ContainerCreating. Default 100. */
  readonly startLatencyMs?: number;
  /** Milliseconds from deletion to the end, at most the pod's grace period. Default 100. */
  readonly terminationMs?: number;
}

/** How one pod is to be played. */
export interface Simulation {
  /** Undefined: never ends by itself. */
  readonly runDurationMs: number | undefined;
  readonly exitCode: number;
  readonly startLatencyMs: number;
  readonly terminationMs: number;
  /** Undefined: the run time starts with the pod. */
  readonly rendezvous: number | 'minMember' | undefined;
}

/** The text tells the user which annotation is wrong and what would be right. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}

/**
 * Reads a pod's annotations. `inGroup`: whether the pod names a group, without which it can meet nobody.
 *
 * @throws SimulationError for the first annotation that cannot be read.
 */
export function readSimulation(
  annotations: Readonly<Record<string, unknown>>,
  inGroup: boolean,
  defaults: SimulationDefaults,
): Simulation {
  rejectUnknown(annotations);
  const names = simulationAnnotations;
  const run = annotations[names.runDuration];
  return {
    runDurationMs:
      run === 'never' ? undefined : durationOf(annotations, names.runDuration, defaults.runDurationMs, ', or "never"'),
    exitCode: exitCodeOf(annotations),
    startLatencyMs: durationOf(annotations, names.startLatency, defaults.startLatencyMs ?? 100),
    terminationMs: durationOf(annotations, names.termination, defaults.terminationMs ?? 100),
    rendezvous: rendezvousOf(annotations, inGroup),
  };
}

type Annotations = Readonly<Record<string, unknown>>;

const domain = 'sim.tutti.dev/';
const known: readonly string[] = Object.values(simulationAnnotations);

function rejectUnknown(annotations: Annotations): void {
  const unknown = Object.keys(annotations).find((name) => name.startsWith(domain) && !known.includes(name));
  if (unknown === undefined) return;
  const meant = closestName(unknown, known);
  const hint = meant === undefined ? '' : `did you mean ${meant}? `;
  throw new SimulationError(`annotation ${unknown} is not known; ${hint}there are ${known.join(', ')}`);
}

function durationOf<Absent extends number | undefined>(
  annotations: Annotations,
  name: string,
  absent: Absent,
  alternative = '',
): number | Absent {
  const text = annotations[name];
  if (text === undefined) return absent;
  const duration = typeof text === 'string' ? parseDuration(text) : undefined;
  if (duration === undefined) throw wrong(name, text, `a duration such as "2s" or "1m30s"${alternative}`);
  return duration;
}

function exitCodeOf(annotations: Annotations): number {
  const text = annotations[simulationAnnotations.exitCode];
  if (text === undefined) return 0;
  if (typeof text !== 'string' || !/^\d{1,3}$/.test(text) || Number(text) > 255) {
    throw wrong(simulationAnnotations.exitCode, text, 'a whole number from "0" to "255"');
  }
  return Number(text);
}

function rendezvousOf(annotations: Annotations, inGroup: boolean): Simulation['rendezvous'] {
  const text = annotations[simulationAnnotations.rendezvous];
  if (text === undefined) return undefined;
  const members = typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined;
  if (members === undefined && text !== 'minMember') {
    throw wrong(simulationAnnotations.rendezvous, text, 'a number of members of at least "1", or "minMember"');
  }
  if (!inGroup) {
    throw new SimulationError(
      `annotation ${simulationAnnotations.rendezvous}: the pod names no group to meet; ` +
        'set its label scheduling.x-k8s.io/pod-group, or remove the annotation',
    );
  }
  return members ?? 'minMember';
}

function wrong(name: string, value: unknown, expected: string): SimulationError {
  return new SimulationError(`annotation ${name}: ${JSON.stringify(value)} is not valid; it must be ${expected}`);
}
