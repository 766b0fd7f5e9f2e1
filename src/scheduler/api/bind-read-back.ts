import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ApiError, MalformedAnswerError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import type { Logger } from '../../observability/logger.ts';
import { bindFailureOf } from './bind-failure.ts';

/** A Binding failed although the pod exists: the pod is bound to another node, or another pod has its name. */
export class BoundElsewhereError extends Error {
  override readonly name = 'BoundElsewhereError';
}

/** A Binding failed because the pod is being deleted. The API server no longer binds it. */
export class PodLeavingError extends Error {
  override readonly name = 'PodLeavingError';
}

interface PodAssignment {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
}

/** Timeout of one request for a binding. */
export const bindCallTimeoutMs = 10_000;
/** Timeout of the first read. It doubles with each further read, up to bindCallTimeoutMs. A read can be given up at no other cost. */
const firstReadTimeoutMs = 1_000;

export interface ReadBackOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Returns whether the pod is bound to the requested node; false: to none; undefined: the server refuses the read. Retries until there is
 * a response. The pod stays assumed in the meantime, because its capacity may be in use. Reads the stored state, never a server's cache,
 * and does not wait for queued Bindings. Rejects with the signal's reason, or if the pod can no longer be bound as requested, whatever
 * was sent before: with BoundElsewhereError, PodLeavingError or NotFoundError.
 */
export async function isBoundAsAsked(
  binding: PodBinding,
  { client, clock, random, logger }: ReadBackOptions,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { namespace, name, uid, nodeName: node } = binding;
  const pod = `${namespace}/${name}`;
  const read = async (attempt: number): Promise<PodAssignment> => {
    const timeoutMs = Math.min(bindCallTimeoutMs, firstReadTimeoutMs * 2 ** (attempt - 1));
    const answer = await client.get<PodAssignment>(podPath(binding), {
      lane: 'bind',
      timeoutMs,
      isSpare: true,
      signal,
    });
    if (typeof answer?.metadata?.uid === 'string') return answer;
    throw new MalformedAnswerError(`the response to a read of pod ${pod} is not a pod`);
  };
  let assignment: PodAssignment;
  try {
    assignment = await retry(read, { clock, random, idempotent: true, maxAttempts: Infinity, signal });
  } catch (error) {
    const isRejected = error instanceof ApiError && bindFailureOf(error) !== 'gone';
    if (!isRejected || signal.aborted) throw error;
    logger.warn('could not read a pod whose binding is unconfirmed; its capacity stays assumed', { pod, node, error });
    return undefined;
  }
  if (assignment.metadata.uid !== uid) {
    throw new BoundElsewhereError(`pod ${pod} was deleted and recreated`);
  }
  const nodeName = assignment.spec?.nodeName ?? '';
  if (nodeName !== '' && nodeName !== node) {
    throw new BoundElsewhereError(`pod ${pod} is already bound to node ${nodeName}`);
  }
  if (nodeName === '' && assignment.metadata.deletionTimestamp !== undefined) {
    throw new PodLeavingError(`pod ${pod} is being deleted`);
  }
  return nodeName !== '';
}
