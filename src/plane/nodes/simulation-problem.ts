/**
 * An error that the simulation recovered from, for logs. `message` is constant. `subject` names the node ("node a"), the pod
 * ("pod default/p") or the collection.
 */
export interface SimulationProblem {
  readonly message: string;
  readonly subject: string;
  readonly error: Error;
}

export type OnSimulationProblem = (problem: SimulationProblem) => void;
