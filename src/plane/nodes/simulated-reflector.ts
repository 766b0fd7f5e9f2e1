import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { Reflector } from '../../informer/reflector.ts';
import type { ReflectorOptions } from '../../informer/reflector.ts';
import type { OnSimulationProblem } from './simulation-problem.ts';

/** Dependencies of a client that simulates a cluster component. */
export interface SimulatedReflectorContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly onProblem?: OnSimulationProblem | undefined;
}

/** Creates a reflector that reports its problems as simulation problems, with its path as the subject. */
export function simulatedReflector<T>(
  { client, clock, random, onProblem }: SimulatedReflectorContext,
  options: Pick<ReflectorOptions<T>, 'path' | 'project' | 'handler' | 'indexers'>,
): Reflector<T> {
  return new Reflector<T>({
    ...options,
    client,
    clock,
    random,
    onProblem: ({ kind, path, error }) => onProblem?.({ message: `${kind} failed`, subject: path, error }),
  });
}
