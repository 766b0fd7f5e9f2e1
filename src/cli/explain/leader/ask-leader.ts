import { messageOf } from '../../../base/message-of.ts';
import { packageVersion } from '../../../base/package-files.ts';
import { UserError } from '../../../base/user-error.ts';
import { explainRejection } from '../../../client/access-denied-error.ts';
import { ApiError, NotFoundError } from '../../../client/api-errors.ts';
import { PortForwardError } from '../../../client/port-forward.ts';
import type { SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { printNote } from '../../output/print.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { isNewerMinor } from '../version/image-version.ts';
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
  const openAndAsk = async (): Promise<T> => {
    const leader = await openLeader(cluster, flags, context.interruption.signal);
    const answer = await ask(leader);
    noteNewerVersion(leader, context);
    return answer;
  };
  try {
    return await openAndAsk().catch((error: unknown) => {
      if (!mayHaveMoved(error)) throw error;
      return openAndAsk();
    });
  } catch (error) {
    const explained = explainRejection(error);
    if (source === 'scheduler' || !(explained instanceof UserError || explained instanceof ApiError)) throw error;
    printNote(`The scheduler could not be asked, so the answer comes from the API: ${messageOf(explained)}.`, context);
    return undefined;
  }
}

function noteNewerVersion({ version = '' }: LeaderState, context: CommandContext): void {
  const own = packageVersion();
  if (!isNewerMinor(version, own)) return;
  printNote(
    `The scheduler has version ${version}. This command has ${own}, so it may not show all of the answer.`,
    context,
  );
}

/** Returns whether the pod that led is gone, or does not answer. */
function mayHaveMoved(error: unknown): boolean {
  if (error instanceof LeaderRequestError) return error.cause !== undefined;
  return error instanceof PortForwardError || error instanceof NotFoundError;
}
