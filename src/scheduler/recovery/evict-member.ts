import { isTerminal } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { Logger } from '../../observability/logger.ts';
import type { PodEvictor } from '../ports.ts';

/**
 * The result of an eviction request:
 * - `going`: the member is being deleted. `withdrawn`: the request was not sent, because the group or the member had changed;
 * - otherwise the reason why the member stays bound.
 */
export type EvictionOutcome = 'going' | 'withdrawn' | { readonly failure: string };

/** Evicts a member of a group that is being released. The request is withdrawn if the group must no longer be released when it is sent. */
export async function evictMember(
  spec: GangSpec,
  pod: Pod,
  options: {
    readonly cluster: Pick<Cluster, 'gang' | 'pod'>;
    readonly evictor: Pick<PodEvictor, 'release'>;
    readonly logger: Logger;
    readonly signal: AbortSignal;
  },
): Promise<EvictionOutcome> {
  const { cluster, evictor, logger, signal } = options;
  // The request waits in the client, and is repeated. By then, the member may be gone, or the group may have started with fewer members.
  const isWanted = (): boolean => {
    const gang = cluster.gang(spec.key);
    if (gang?.spec?.uid !== spec.uid || gang.started || !gang.spec.releases) return false;
    const member = cluster.pod(pod.uid);
    return member?.podGroupKey === spec.key && !member.deleting && !isTerminal(member);
  };
  const mayBeSent = (): void => {
    if (!isWanted()) throw new WithdrawnError('the group or its member has changed');
  };
  try {
    const outcome = await evictor.release(pod, { mayBeSent, signal });
    return outcome === 'going' ? outcome : { failure: `a PodDisruptionBudget protects ${pod.name}` };
  } catch (error) {
    if (error instanceof WithdrawnError) return 'withdrawn';
    if (!signal.aborted) logger.warn('could not release a member', { pod: pod.key, error });
    return { failure: `${pod.name} could not be evicted` };
  }
}
