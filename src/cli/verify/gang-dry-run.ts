import type { Clock } from '../../base/clock.ts';
import { formatDuration } from '../../base/format-duration.ts';
import type { Random } from '../../base/random.ts';
import { podGroupPath, podGroupResource } from '../../api/pod-group.ts';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import { podPath } from '../../api/pod-path.ts';
import { NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { wait } from '../../client/wait.ts';

export interface GangDryRunOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly schedulerName: string;
  /** Image of the two pods. They must be bound, but need not run. */
  readonly image: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type GangDryRunResult =
  | { readonly bound: true; readonly nodes: readonly string[]; readonly tookMs: number }
  | { readonly bound: false; readonly problem: string };

interface DryRunPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
  };
}

const size = 2;
const pollIntervalMs = 250;

/**
 * Creates a gang of two small pods, waits until both are bound, and always deletes everything afterwards. Rejects with the error of the
 * API server or with the signal's reason.
 */
export async function tryGang(options: GangDryRunOptions): Promise<GangDryRunResult> {
  const { client, random, namespace } = options;
  const name = `tutti-verify-${Math.trunc(random() * 36 ** 5)
    .toString(36)
    .padStart(5, '0')}`;
  const members = Array.from({ length: size }, (_, index) => ({ namespace, name: `${name}-${index}` }));
  // The group owns the members, so the garbage collector deletes what is left of them.
  const cleanUp = async (): Promise<void> => {
    const paths = [...members.map(podPath), podGroupPath(namespace, name)];
    await Promise.all(paths.map((path) => client.delete(path).catch(ignoreNotFound)));
  };
  let result: GangDryRunResult;
  try {
    result = await startGang(name, members, options);
  } catch (error) {
    await cleanUp().catch(() => undefined); // report the first error
    throw error;
  }
  await cleanUp();
  return result;
}

async function startGang(
  name: string,
  members: readonly { readonly namespace: string; readonly name: string }[],
  options: GangDryRunOptions,
): Promise<GangDryRunResult> {
  const { client, clock, namespace, signal, timeoutMs } = options;
  const startedAt = clock.monotonic();
  const group = await client.create<{ readonly metadata: { readonly uid: string } }>(
    podGroupPath(namespace),
    {
      apiVersion: podGroupResource.apiVersion,
      kind: podGroupResource.kind,
      metadata: { name, namespace },
      spec: { minMember: size },
    },
    { signal },
  );
  for (const member of members) {
    const body = podOf(member.name, name, group.metadata.uid, options);
    await client.create(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`, body, { signal });
  }
  for (;;) {
    const pods = await Promise.all(members.map((member) => client.get<DryRunPod>(podPath(member), { signal })));
    const nodes = pods.flatMap(({ spec }) => spec.nodeName ?? []);
    const tookMs = clock.monotonic() - startedAt;
    if (nodes.length === size) return { bound: true, nodes, tookMs };
    if (tookMs >= timeoutMs) return { bound: false, problem: problemOf(pods, options) };
    await wait(clock, pollIntervalMs, signal);
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}

/** Returns a pod that meets the restricted Pod Security Standard. */
function podOf(name: string, group: string, groupUid: string, options: GangDryRunOptions): object {
  const { apiVersion, kind } = podGroupResource;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: options.namespace,
      labels: { [podGroupLabel]: group },
      ownerReferences: [{ apiVersion, kind, name: group, uid: groupUid }],
    },
    spec: {
      schedulerName: options.schedulerName,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'main',
          image: options.image,
          args: ['--version'],
          resources: { requests: { cpu: '10m', memory: '16Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}

function problemOf(pods: readonly DryRunPod[], { schedulerName, timeoutMs }: GangDryRunOptions): string {
  const verdicts = pods.flatMap(({ metadata, spec, status }) => {
    if (spec.nodeName !== undefined) return [`${metadata.name} is on ${spec.nodeName}`];
    const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
    return condition === undefined ? [] : [`${metadata.name}: ${condition.reason ?? ''}: ${condition.message ?? ''}`];
  });
  const why =
    verdicts.length > 0
      ? verdicts.join('; ')
      : `no scheduler has tried it: is a scheduler with the name ${schedulerName} running?`;
  return `a gang of ${size} was not bound within ${formatDuration(timeoutMs)}: ${why}`;
}
