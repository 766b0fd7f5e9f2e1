import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { StatusChange, StatusList } from '../../../api/explain/lists.ts';
import { unlessAborted } from '../../../client/wait.ts';
import type { KubeClient } from '../../../client/kube-client.ts';
import { deferred } from '../../../base/deferred.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { ChangePrinter } from '../../output/change-printer.ts';
import { printNote } from '../../output/print.ts';
import type { PrintOptions } from '../../output/print.ts';
import type { StatusSelection } from './load-status.ts';
import { subjectName } from '../subject-argument.ts';
import { statusColumns } from './print-status.ts';
import type { StatusRow } from './print-status.ts';
import { StatusWatch } from './status-watch.ts';

/**
 * Prints the items of the list, then each that changes, until a signal ends the command. Resolves to the exit code of the signal. Rejects with
 * ForbiddenError if the user may not watch a kind.
 */
export async function followStatus(
  client: KubeClient,
  list: StatusList,
  selection: StatusSelection,
  options: PrintOptions,
  context: CommandContext,
): Promise<number> {
  const { clock, random, interruption } = context;
  const showsNamespace = selection.namespace === undefined;
  const showsPods = selection.podsOf !== undefined || selection.subjects.some(({ kind }) => kind === 'Pod');
  const printer = new ChangePrinter<StatusChange, StatusRow>(
    {
      ...options,
      columns: (isWide) => {
        const columns = statusColumns({ showsNamespace, entity: showsPods ? 'ENTITY' : 'GROUP', now: clock.now() });
        return columns[isWide ? 'wide' : 'normal'];
      },
      rowsOf: (change) => [rowOf(change)],
      nameOf: ({ item }) => subjectName(item.subject),
    },
    context,
  );
  printer.print(
    list.items.map((item) => ({ apiVersion: explainApiVersion, kind: 'StatusChange', type: 'Added', item })),
  );
  for (const { part, message } of list.errors) printNote(`${part}: ${message}`, context);
  const failed = deferred();
  const watch = new StatusWatch({
    ...{ client, clock, random, selection },
    items: list.items,
    onChanges: (changes) => printer.print(changes),
    onOutage: ({ path, error }) => printNote(`cannot follow ${path}, trying again: ${error.message}`, context),
    onForbidden: (error) => failed.reject(error),
  });
  watch.start();
  try {
    await unlessAborted(failed.promise, interruption.signal);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
  } finally {
    await watch.stop();
  }
  return interruption.exitCode ?? exitCodes.failed;
}

function rowOf({ type, item }: StatusChange): StatusRow {
  if (type !== 'Deleted') return item;
  const { waitsFor: _, since: __, ...rest } = item;
  return { ...rest, state: 'Deleted', message: '' };
}
