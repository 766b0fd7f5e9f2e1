import type { SchedulerLookupFlags } from '../cluster-flags.ts';
import type { CommandContext } from '../command-context.ts';
import type { ForwardedLeader } from '../explain/leader/forwarded-leader.ts';
import type { LeaderFlags } from '../explain/leader/leader-flags.ts';
import { openLeader } from '../explain/leader/open-leader.ts';
import type { OpenCluster } from '../explain/with-cluster.ts';
import type { DebugEndpoints } from './debug-endpoints.ts';
import { LeaderEndpoints } from './leader-endpoints.ts';

/** Returns the endpoints of the scheduler that leads in a cluster, through port-forwards. */
export function leaderEndpointsOf(
  cluster: OpenCluster,
  flags: SchedulerLookupFlags & LeaderFlags,
  { interruption, clock }: Pick<CommandContext, 'interruption' | 'clock'>,
): LeaderEndpoints {
  return new LeaderEndpoints({
    open: async () => endpointsOf(await openLeader(cluster, flags, interruption.signal)),
    clock,
  });
}

function endpointsOf(leader: Pick<ForwardedLeader, 'stream'>): DebugEndpoints {
  return {
    async get({ path, headers, signal }) {
      const response = await leader.stream(path, { headers, signal });
      return { status: response.statusCode ?? 0, headers: response.headers, body: response };
    },
  };
}
