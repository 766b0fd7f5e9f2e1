import { UserError } from '../../../base/user-error.ts';
import type { KubeClient } from '../../../client/kube-client.ts';
import type { SchedulerConfiguration } from '../../../config/scheduler-configuration.ts';
import { defaultSecurePorts } from '../../../serving/secure-serving-options.ts';
import { imageVersion } from '../version/image-version.ts';

/** The pod of the scheduler that leads. */
export interface LeaderPod {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** Name of its Service, by the chart. */
  readonly service: string;
  /** Tag of its image. */
  readonly version: string | undefined;
}

/** The scheduler that leads cannot be found. The message is a sentence without a period. */
export class NoLeaderError extends UserError {
  override readonly name = 'NoLeaderError';
}

interface RawLease {
  readonly spec?: { readonly holderIdentity?: string };
}

interface RawPod {
  readonly spec?: {
    readonly containers?: readonly {
      readonly name?: string;
      readonly image?: string;
      readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
    }[];
  };
}

/** Finds the leader by the Lease of the configuration: its holder is a pod of the same namespace, which is the one of the release in the chart. */
export async function findLeader(
  client: Pick<KubeClient, 'get'>,
  { leaderElection }: Pick<SchedulerConfiguration, 'leaderElection'>,
  signal: AbortSignal,
): Promise<LeaderPod> {
  const { leaderElect, resourceName, resourceNamespace: namespace } = leaderElection;
  if (!leaderElect) throw new NoLeaderError('the scheduler runs without leader election, so no Lease names its pod');
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${resourceName}`;
  const { spec: { holderIdentity = '' } = {} } = await client.get<RawLease>(path, { signal });
  // See processIdentity: the host name, which is the pod's name, and an id.
  const name = holderIdentity.slice(0, Math.max(0, holderIdentity.lastIndexOf('_')));
  if (name === '') throw new NoLeaderError(`no scheduler holds the Lease ${namespace}/${resourceName}`);
  const pod = await client.get<RawPod>(`/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(name)}`, { signal });
  const container = pod.spec?.containers?.find((each) => each.name === 'scheduler');
  const port = container?.ports?.find((each) => each.name === 'https')?.containerPort ?? defaultSecurePorts.scheduler;
  return { namespace, name, port, service: resourceName, version: imageVersion(container?.image ?? '') };
}
