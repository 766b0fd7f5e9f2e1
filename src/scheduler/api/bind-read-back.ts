import { podPath } from '../../api/pod-path.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ApiError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { retry } from '../../client/retry.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import type { Logger } from '../../observability/logger.ts';

/** A Binding failed although the pod exists: it runs elsewhere, or another pod has its name by now. */
export class BoundElsewhereError extends Error {
  override readonly name = 'BoundElsewhereError';
}

interface PodPlacement {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
}

/** How long one call that has to do with a bind may take. */
export const bindCallTimeoutMs = 10_000;

export interface ReadBackOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Whether the pod is on the node that it was to be bound to; false: on none. Undefined: the server refuses to say. Asks until there
 * is an answer: the pod stays assumed meanwhile, because its room may be taken. Rejects with BoundElsewhereError, with
 * NotFoundError, and with the signal's reason.
 */
export async function isBoundAsAsked(
  binding: PodBinding,
  { client, clock, random, logger }: ReadBackOptions,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  let pod: PodPlacement;
  try {
    pod = await retry(
      () => client.get<PodPlacement>(podPath(binding), { lane: 'bind', timeoutMs: bindCallTimeoutMs, signal }),
      { clock, random, idempotent: true, maxAttempts: Infinity, signal },
    );
  } catch (error) {
    const isRefused = error instanceof ApiError && !(error instanceof NotFoundError);
    if (!isRefused || signal.aborted) throw error;
    const { namespace, name, nodeName: node } = binding;
    logger.warn('a pod whose Binding is in doubt could not be read; its room is kept', {
      pod: `${namespace}/${name}`,
      node,
      error,
    });
    return undefined;
  }
  if (pod.metadata.uid !== binding.uid) {
    throw new BoundElsewhereError(`pod ${binding.namespace}/${binding.name} was deleted and made again meanwhile`);
  }
  const nodeName = pod.spec.nodeName ?? '';
  if (nodeName !== '' && nodeName !== binding.nodeName) {
    throw new BoundElsewhereError(`pod ${binding.namespace}/${binding.name} is already bound to node ${nodeName}`);
  }
  return nodeName !== '';
}
