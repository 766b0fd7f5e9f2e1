import { Gauge } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { LeaderElector } from '../client/leader-elector.ts';
import type { WriteFence } from '../client/write-fence.ts';
import type { LeaderElectionConfiguration } from '../config/scheduler-configuration.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';

export interface CandidacyOptions {
  readonly configuration: LeaderElectionConfiguration;
  /** As in LeaderElector. */
  readonly identity: string;
  /** Client of the process; the fence blocks its writes. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace' | 'watch'>;
  readonly fence: WriteFence;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
}

/** Starts the leader election of this process. */
export function startLeaderElection(options: CandidacyOptions): LeaderElector {
  const { configuration, registry, ...rest } = options;
  const { resourceName, resourceNamespace } = configuration;
  const status = leadershipGauge(registry);
  status.set({ name: resourceName }, 0);
  const elector = new LeaderElector({
    ...rest,
    ...configuration,
    namespace: resourceNamespace,
    name: resourceName,
    onChange: (leads) => status.set({ name: resourceName }, leads ? 1 : 0),
  });
  elector.start();
  return elector;
}

export function leadershipGauge(registry: MetricRegistry): Gauge<'name'> {
  return new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process is the leader: 1 if it is, 0 while it is on standby. "name" is the name of the Lease.',
    labelNames: ['name'],
    registers: [registry],
  });
}
