import { closestName } from '../../base/closest-name.ts';
import { parseDuration } from '../../base/parse-duration.ts';

/**
 * Annotations that control how simulated nodes simulate a pod. All are optional. A pod with an invalid value fails at once, with reason
 * InvalidSimulation and a message that names the annotation and the valid values.
 */
export const simulationAnnotations = {
  /**
   * How long the pod runs before it ends: a Go duration such as "2s" or "1m30s", or "never". Default: as configured
   * for the nodes, or else never.
   */
  runDuration: 'sim.tutti.dev/run-duration',
  /** Exit code of every container when the run ends: "0" (the default: Succeeded) to "255". */
  exitCode: 'sim.tutti.dev/exit-code',
  /** How long the pod stays in ContainerCreating: a Go duration. Default: as configured for the nodes. */
  startLatency: 'sim.tutti.dev/start-latency',
  /** How long the pod takes to end when it is deleted, at most its grace period: a Go duration. Default: as configured for the nodes. */
  termination: 'sim.tutti.dev/termination',
  /**
   * Number of group members that must run at the same time before the pod's run duration starts, as in a training job whose workers
   * need each other. Members are the pods of the namespace with the same `scheduling.x-k8s.io/pod-group`, on any node, in phase Running.
   * A number, or "minMember" for the value in the PodGroup. Default: the run duration starts with the pod.
   */
  rendezvous: 'sim.tutti.dev/rendezvous',
} as const;

/** How nodes simulate pods without annotations. */
export interface SimulationDefaults {
  /** Milliseconds. Default: pods run until they are deleted. */
  readonly runDurationMs?: number;
  /** Milliseconds in ContainerCreating. Default 100. */
  readonly startLatencyMs?: number;
  /** Milliseconds from deletion to the end, at most the pod's grace period. Default 100. */
  readonly terminationMs?: number;
}

/** How to simulate one pod. */
export interface Simulation {
  /** Undefined if the pod runs until it is deleted. */
  readonly runDurationMs: number | undefined;
  readonly exitCode: number;
  readonly startLatencyMs: number;
  readonly terminationMs: number;
  /** Undefined if the run duration starts with the pod. */
  readonly rendezvous: number | 'minMember' | undefined;
}

/** An invalid annotation. The message names the annotation and the valid values. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}

/**
 * Reads a pod's annotations. `inGroup` is whether the pod names a group, which a rendezvous requires.
 *
 * @throws SimulationError for the first invalid annotation.
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
  const closest = closestName(unknown, known);
  const hint = closest === undefined ? '' : `did you mean ${closest}? `;
  throw new SimulationError(`unknown annotation ${unknown}; ${hint}valid annotations: ${known.join(', ')}`);
}

function durationOf<Absent extends number | undefined>(
  annotations: Annotations,
  name: string,
  fallback: Absent,
  alternative = '',
): number | Absent {
  const text = annotations[name];
  if (text === undefined) return fallback;
  const duration = typeof text === 'string' ? parseDuration(text) : undefined;
  if (duration === undefined) throw invalid(name, text, `a duration such as "2s" or "1m30s"${alternative}`);
  return duration;
}

function exitCodeOf(annotations: Annotations): number {
  const text = annotations[simulationAnnotations.exitCode];
  if (text === undefined) return 0;
  if (typeof text !== 'string' || !/^\d{1,3}$/.test(text) || Number(text) > 255) {
    throw invalid(simulationAnnotations.exitCode, text, 'a whole number from "0" to "255"');
  }
  return Number(text);
}

function rendezvousOf(annotations: Annotations, inGroup: boolean): Simulation['rendezvous'] {
  const text = annotations[simulationAnnotations.rendezvous];
  if (text === undefined) return undefined;
  const members = typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined;
  if (members === undefined && text !== 'minMember') {
    throw invalid(simulationAnnotations.rendezvous, text, 'a number of members of at least "1", or "minMember"');
  }
  if (!inGroup) {
    throw new SimulationError(
      `annotation ${simulationAnnotations.rendezvous}: the pod does not name a group; ` +
        'set its label scheduling.x-k8s.io/pod-group, or remove the annotation',
    );
  }
  return members ?? 'minMember';
}

function invalid(name: string, value: unknown, expected: string): SimulationError {
  return new SimulationError(`annotation ${name}: ${JSON.stringify(value)} is not valid; it must be ${expected}`);
}
