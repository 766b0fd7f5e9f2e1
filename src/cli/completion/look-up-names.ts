import { nativePodGroupPath, nativeVersions } from '../../api/native-pod-group.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import { isObjectName } from '../../api/object-name.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { withCluster } from '../explain/with-cluster.ts';
import type { Completed, CompletionScope, LookUpNames } from './complete.ts';

/** A user who presses Tab does not wait longer. Together with the start of the program this is less than a second. */
const deadlineMs = 600;
/** A shell shows no more candidates in a useful way. */
const maxNames = 500;

interface Named {
  readonly metadata: { readonly name: string };
}

/** Returns the lookup of names in the cluster. It finds nothing if the cluster does not answer at once, or denies the list. */
export function namesInCluster(clock: Clock): LookUpNames {
  return async (kind, { kubeconfig, context, namespace }) => {
    const end = new AbortController();
    const timer = clock.setTimer(deadlineMs, () => end.abort(new Error('completion takes too long')));
    try {
      return await unlessAborted(end.signal, find(kind, { kubeconfig, context, namespace }, clock, end.signal));
    } catch {
      return [];
    } finally {
      timer.cancel();
    }
  };
}

async function find(
  kind: Completed,
  { kubeconfig, context, namespace }: CompletionScope,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const flags = {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(namespace !== undefined && { namespace }),
  };
  return withCluster(flags, { clock }, async ({ client, namespace: chosen }) => {
    switch (kind) {
      case 'namespaces':
        return list(client, '/api/v1/namespaces', signal);
      case 'nodes':
        return list(client, '/api/v1/nodes', signal);
      case 'groupsAndPods': {
        const paths = [podGroupPath(chosen), ...nativeVersions.map((version) => nativePodGroupPath(version, chosen))];
        const lists = await Promise.all([
          ...paths.map((path) => list(client, path, signal).catch(() => [])),
          list(client, `/api/v1/namespaces/${chosen}/pods`, signal).then(
            (names) => names.map((name) => `pod/${name}`),
            () => [],
          ),
        ]);
        return [...new Set(lists.flat())];
      }
    }
  });
}

async function list(client: KubeClient, path: string, signal: AbortSignal): Promise<readonly string[]> {
  const { items } = await client.list(path, { limit: maxNames, metadataOnly: true, signal });
  return (items as readonly Named[]).map(({ metadata }) => metadata.name).filter(isObjectName);
}

/** A credential plugin does not stop at the signal. */
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}
