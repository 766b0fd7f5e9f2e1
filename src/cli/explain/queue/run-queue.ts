import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { QueueList } from '../../../api/explain/lists.ts';
import { UserError } from '../../../base/user-error.ts';
import { openSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import type { ConnectionFlags, PrintFlags, SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { printNote } from '../../output/print.ts';
import { openClusterSource } from '../cluster-source.ts';
import { askLeader } from '../leader/ask-leader.ts';
import type { LeaderFlags } from '../leader/leader-flags.ts';
import type { LeaderState } from '../leader/leader-state.ts';
import { loadSnapshot } from '../snapshot/load-snapshot.ts';
import type { SnapshotFlag } from '../snapshot/snapshot-flag.ts';
import { withCluster } from '../with-cluster.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { printQueue } from './print-queue.ts';
import { queueOfCore } from './queue-of-core.ts';
import { queueOfLeader } from './queue-of-leader.ts';
import { queueOfSnapshot } from './queue-of-snapshot.ts';

/** The flags of `tutti queue`. */
export interface QueueFlags extends ConnectionFlags, SchedulerLookupFlags, LeaderFlags, PrintFlags, SnapshotFlag {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly source: 'auto' | 'scheduler' | 'api';
}

/** The caller may not see enough of the cluster to know the order of the queue. */
export class HiddenQueueError extends UserError {
  override readonly name = 'HiddenQueueError';

  constructor(why: string) {
    super(`${why} The order of the queue needs all nodes and pods; tutti status shows what waits in a namespace`);
  }
}

/** Prints the entities that wait, in the order in which they are tried. Resolves to 0. */
export async function runQueue(flags: QueueFlags, context: CommandContext): Promise<number> {
  const { namespace, snapshot } = flags;
  const { items, ...list } =
    snapshot === undefined
      ? await withCluster(flags, context, (cluster) => queueList(cluster, flags, context))
      : await listOfSnapshot(snapshot, context);
  const chosen = items.filter(({ subject }) => namespace === undefined || subject.namespace === namespace);
  printQueue({ ...list, items: chosen }, flags, context);
  return exitCodes.ok;
}

async function listOfSnapshot(path: string, { clock }: CommandContext): Promise<QueueList> {
  const { core, basis, snapshot } = openSnapshot(await loadSnapshot(path), clock);
  await core.stop();
  return { apiVersion: explainApiVersion, kind: 'QueueList', basis, items: queueOfSnapshot(snapshot) };
}

/** Asks the scheduler if the flags allow it, else lists the cluster. */
async function queueList(cluster: OpenCluster, flags: QueueFlags, context: CommandContext): Promise<QueueList> {
  const asked = await askLeader((leader) => listOfLeader(leader, context), cluster, flags, context);
  return asked ?? listOfCluster(cluster, flags, context);
}

async function listOfLeader(leader: LeaderState, { clock }: CommandContext): Promise<QueueList> {
  const takenAt = clock.now();
  const items = await queueOfLeader(leader);
  const ageSeconds = (clock.now() - takenAt) / 1000;
  // The order among equals is that of the scheduler's QueueSort, which the endpoint does not show.
  const basis = {
    source: 'scheduler',
    takenAt: new Date(takenAt).toISOString(),
    ageSeconds,
    unknowns: ['queueOrder'],
  } as const;
  return { apiVersion: explainApiVersion, kind: 'QueueList', basis, items };
}

async function listOfCluster({ client }: OpenCluster, flags: QueueFlags, context: CommandContext): Promise<QueueList> {
  const { clock, random, interruption } = context;
  const { schedulerName: schedulerNames, schedulerNamespace } = flags;
  const source = flags.source === 'api' ? 'api' : 'auto';
  const lookup = { namespace: schedulerNamespace, schedulerNames, signal: interruption.signal };
  const found = await openClusterSource(source, { client, clock, random, ...lookup });
  if (found.kind === 'conditions') throw new HiddenQueueError(found.why ?? '');
  const { core, basis, errors } = found;
  core.begin();
  const items = queueOfCore(core);
  await core.stop();
  for (const { part, message } of errors) printNote(`${part}: ${message}`, context);
  return { apiVersion: explainApiVersion, kind: 'QueueList', basis, items };
}
