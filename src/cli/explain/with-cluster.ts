import { explainRejection } from '../../client/access-denied-error.ts';
import { ApiError, MalformedAnswerError } from '../../client/api-errors.ts';
import type { Endpoint } from '../../client/endpoint.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { loadKubeconfig } from '../../client/kubeconfig.ts';
import { connectToApi } from '../../compose/api-connection.ts';
import type { ConnectionFlags, NamespaceFlags } from '../cluster-flags.ts';
import type { CommandContext } from '../command-context.ts';
import { RequestFailedError } from './request-failed-error.ts';

/** The cluster that a command asks. */
export interface OpenCluster {
  readonly client: KubeClient;
  readonly endpoint: Endpoint;
  /** The namespace that the user has chosen; undefined: all. */
  readonly namespace: string | undefined;
}

/**
 * Connects to the cluster of the flags, calls `act` and closes the connection. Rejects with KubeconfigError, AccessDeniedError,
 * RequestFailedError or ConnectionError, which users understand.
 */
export async function withCluster<T>(
  flags: ConnectionFlags & NamespaceFlags,
  { clock }: Pick<CommandContext, 'clock'>,
  act: (cluster: OpenCluster) => Promise<T>,
): Promise<T> {
  const { kubeconfig: path, context, namespace, allNamespaces } = flags;
  const endpoint = await loadKubeconfig({
    clock,
    ...(path !== undefined && { path }),
    ...(context !== undefined && { context }),
  });
  // As kubectl: a command sends few requests, but a large list has many pages.
  const connection = await connectToApi({ clock, userAgent: 'tutti', qps: 50, burst: 300, endpoint });
  const ofContext = endpoint.namespace ?? '';
  const chosen = namespace ?? (ofContext === '' ? 'default' : ofContext);
  try {
    return await act({
      client: connection.client,
      endpoint,
      namespace: allNamespaces === true ? undefined : chosen,
    });
  } catch (error) {
    const explained = explainRejection(error);
    const isFailure = explained instanceof ApiError || explained instanceof MalformedAnswerError;
    throw isFailure ? new RequestFailedError(explained) : explained;
  } finally {
    await connection.close();
  }
}
