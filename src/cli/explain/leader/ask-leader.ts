import { messageOf } from '../../../base/message-of.ts';
import { UserError } from '../../../base/user-error.ts';
import { explainRejection } from '../../../client/access-denied-error.ts';
import { ApiError, NotFoundError } from '../../../client/api-errors.ts';
import { PortForwardError } from '../../../client/port-forward.ts';
import type { SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { printNote } from '../../output/print.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { LeaderRequestError } from './forwarded-leader.ts';
import type { LeaderFlags } from './leader-flags.ts';
import type { LeaderState } from './leader-state.ts';
import { mayAskLeader, openLeader } from './open-leader.ts';

/**
 * Asks the scheduler that leads, if the user has chosen it or has set a token; otherwise returns undefined. If it does not answer, another
 * one may lead by now: looks for the leader and asks once more. If the user has left the choice and it cannot be asked, a note says why, and the
 * result is undefined too.
 */
export async function askLeader<T>(
  ask: (leader: LeaderState) => Promise<T>,
  cluster: OpenCluster,
  flags: LeaderFlags & SchedulerLookupFlags & { readonly source: string },
  context: CommandContext,
): Promise<T | undefined> {
  const { source } = flags;
  if (source !== 'scheduler' && (source !== 'auto' || !mayAskLeader(flags))) return undefined;
  const open = (): Promise<LeaderState> => openLeader(cluster, flags, context.interruption.signal);
  try {
    return await open()
      .then(ask)
      .catch(async (error: unknown) => {
        if (!mayHaveMoved(error)) throw error;
        return ask(await open());
      });
  } catch (error) {
    const explained = explainRejection(error);
    if (source === 'scheduler' || !(explained instanceof UserError || explained instanceof ApiError)) throw error;
    printNote(`The scheduler could not be asked, so the answer comes from the API: ${messageOf(explained)}.`, context);
    return undefined;
  }
}

/** Returns whether the pod that led is gone, or does not answer. */
function mayHaveMoved(error: unknown): boolean {
  if (error instanceof LeaderRequestError) return error.cause !== undefined;
  return error instanceof PortForwardError || error instanceof NotFoundError;
}
