import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { nativeGroup, nativeVersions } from '../../api/native-pod-group.ts';
import { podGroupResource } from '../../api/pod-group.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { Reflector } from '../../informer/reflector.ts';
import { observeGroup, observeJob, observeNativeGroup, observeNode, observePod, observeWorkload } from './observed.ts';
import type { ClusterChange } from './story.ts';

export interface ClusterWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each existing object at the start, then for each change as it arrives. Must not throw. */
  readonly onChange: (change: ClusterChange) => void;
  /** Called when a list or watch failed. The reflector retries with back-off. */
  readonly onProblem: (resource: string, error: unknown) => void;
}

export interface ClusterWatch {
  /** Stops all watches. No callback runs after it resolves. */
  stop(): Promise<void>;
}

/** Watches nodes, pods, workloads and the PodGroups of both APIs. Resolves when it has reported the existing objects. */
export async function watchCluster(options: ClusterWatchOptions): Promise<ClusterWatch> {
  const { group, version } = podGroupResource;
  const all = [
    reflector(options, 'nodes', '/api/v1', observeNode, {
      seen: (node) => ({ kind: 'node', node }),
      gone: ({ name }) => ({ kind: 'node-gone', name }),
    }),
    reflector(options, podGroupResource.plural, `/apis/${group}/${version}`, observeGroup, {
      seen: (podGroup) => ({ kind: 'group', group: podGroup }),
      gone: ({ key }) => ({ kind: 'group-gone', key }),
    }),
    reflector(options, 'podgroups', `/apis/${nativeGroup}/${nativeVersions[0]}`, observeNativeGroup, {
      seen: (podGroup) => ({ kind: 'group', group: podGroup }),
      gone: ({ key }) => ({ kind: 'group-gone', key }),
    }),
    reflector(options, 'jobs', '/apis/batch/v1', observeJob, {
      seen: (job) => ({ kind: 'job', job }),
      gone: ({ key }) => ({ kind: 'job-gone', key }),
    }),
    ...(['Deployment', 'StatefulSet'] as const).map((kind) =>
      reflector(options, `${kind.toLowerCase()}s`, '/apis/apps/v1', (object) => observeWorkload(kind, object), {
        seen: (workload) => ({ kind: 'workload', workload }),
        gone: ({ key }) => ({ kind: 'workload-gone', key }),
      }),
    ),
    reflector(options, 'pods', '/api/v1', observePod, {
      seen: (pod) => ({ kind: 'pod', pod }),
      gone: ({ key }) => ({ kind: 'pod-gone', key }),
    }),
  ];
  for (const each of all) each.start();
  await Promise.all(all.map((each) => each.synced()));
  return {
    async stop() {
      await Promise.all(all.map((each) => each.stop()));
    },
  };
}

function reflector<T>(
  { client, clock, random, onChange, onProblem }: ClusterWatchOptions,
  resource: string,
  path: string,
  project: (object: unknown) => T,
  change: { readonly seen: (object: T) => ClusterChange; readonly gone: (object: T) => ClusterChange },
): Reflector<T> {
  return new Reflector<T>({
    client,
    clock,
    random,
    path: `${path}/${resource}`,
    project,
    handler: {
      onAdd: (object) => onChange(change.seen(object)),
      onUpdate: (_previous, object) => onChange(change.seen(object)),
      onDelete: (object) => onChange(change.gone(object)),
    },
    onProblem: ({ error }) => onProblem(resource, error),
  });
}
