import { messageOf } from '../../../base/message-of.ts';
import { UserError } from '../../../base/user-error.ts';
import { explainRejection } from '../../../client/access-denied-error.ts';
import { ApiError } from '../../../client/api-errors.ts';
import type { SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { printNote } from '../../output/print.ts';
import type { OpenCluster } from '../with-cluster.ts';
import type { LeaderFlags } from './leader-flags.ts';
import type { LeaderState } from './leader-state.ts';
import { mayAskLeader, openLeader } from './open-leader.ts';

/**
 * Asks the scheduler that leads, if the user has chosen it or has set a token; otherwise returns undefined. If the user has left the choice
 * and it cannot be asked, a note says why, and the result is undefined too.
 */
export async function askLeader<T>(
  ask: (leader: LeaderState) => Promise<T>,
  cluster: OpenCluster,
  flags: LeaderFlags & SchedulerLookupFlags & { readonly source: string },
  context: CommandContext,
): Promise<T | undefined> {
  const { source } = flags;
  if (source !== 'scheduler' && (source !== 'auto' || !mayAskLeader(flags))) return undefined;
  try {
    return await ask(await openLeader(cluster, flags, context.interruption.signal));
  } catch (error) {
    const explained = explainRejection(error);
    if (source === 'scheduler' || !(explained instanceof UserError || explained instanceof ApiError)) throw error;
    printNote(`The scheduler could not be asked, so the answer comes from the API: ${messageOf(explained)}.`, context);
    return undefined;
  }
}
