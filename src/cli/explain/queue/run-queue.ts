import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { QueueList } from '../../../api/explain/lists.ts';
import { UserError } from '../../../base/user-error.ts';
import type { ConnectionFlags, PrintFlags, SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { printNote } from '../../output/print.ts';
import { openClusterSource } from '../cluster-source.ts';
import { withCluster } from '../with-cluster.ts';
import { printQueue } from './print-queue.ts';
import { queueOfCore } from './queue-of-core.ts';

/** The flags of `tutti queue`. */
export interface QueueFlags extends ConnectionFlags, SchedulerLookupFlags, PrintFlags {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly source: 'auto' | 'api';
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
  const { clock, random, interruption } = context;
  const { schedulerName: schedulerNames, schedulerNamespace, namespace, source } = flags;
  return withCluster(flags, context, async ({ client }) => {
    const lookup = { namespace: schedulerNamespace, schedulerNames };
    const found = await openClusterSource(source, { client, clock, random, signal: interruption.signal, ...lookup });
    if (found.kind === 'conditions') throw new HiddenQueueError(found.why ?? '');
    const { core, basis, errors } = found;
    core.begin();
    const items = queueOfCore(core);
    await core.stop();
    const list: QueueList = {
      apiVersion: explainApiVersion,
      kind: 'QueueList',
      basis,
      items: items.filter(({ subject }) => namespace === undefined || subject.namespace === namespace),
    };
    printQueue(list, flags, context);
    for (const { part, message } of errors) printNote(`${part}: ${message}`, context);
    return exitCodes.ok;
  });
}
