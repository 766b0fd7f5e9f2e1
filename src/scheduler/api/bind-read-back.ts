import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ApiError, MalformedAnswerError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import type { Logger } from '../../observability/logger.ts';
import { bindFailureOf } from './bind-failure.ts';

/** A Binding failed although the pod exists: it runs elsewhere, or another pod has its name by now. */
export class BoundElsewhereError extends Error {
  override readonly name = 'BoundElsewhereError';
}

/** A Binding failed because the pod is being deleted: the API server binds it to no node any more. */
export class PodLeavingError extends Error {
  override readonly name = 'PodLeavingError';
}

interface PodAssignment {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
}

/** How long one call that has to do with a bind may take. */
export const bindCallTimeoutMs = 10_000;
/** How long the first read may; each further one twice as long as that before, up to the same. Giving up a read costs nothing but the read. */
const firstReadTimeoutMs = 1_000;

export interface ReadBackOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Whether the pod is on the node that it was to be bound to; false: on none. Undefined: the server refuses to say. Asks until there
 * is an answer: the pod stays assumed meanwhile, because its room may be taken. Reads what is stored, never what a server keeps
 * in a cache, and not behind Bindings that wait. Rejects when the pod cannot be bound as asked any more, whatever was sent before: with BoundElsewhereError, PodLeavingError or
 * NotFoundError; and with the signal's reason.
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
    throw new MalformedAnswerError(`the answer to a read of pod ${pod} is no pod`);
  };
  let assignment: PodAssignment;
  try {
    assignment = await retry(read, { clock, random, idempotent: true, maxAttempts: Infinity, signal });
  } catch (error) {
    const isRejected = error instanceof ApiError && bindFailureOf(error) !== 'gone';
    if (!isRejected || signal.aborted) throw error;
    logger.warn('a pod whose Binding is in doubt could not be read; its room is kept', { pod, node, error });
    return undefined;
  }
  if (assignment.metadata.uid !== uid) {
    throw new BoundElsewhereError(`pod ${pod} was deleted and made again meanwhile`);
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
