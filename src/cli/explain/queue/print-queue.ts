import type { QueueItem, QueueList } from '../../../api/explain/lists.ts';
import type { CommandContext } from '../../command-context.ts';
import { ageSince, formatAge } from '../../output/age.ts';
import type { Color } from '../../output/color.ts';
import { printList } from '../../output/print.ts';
import type { PrintOptions } from '../../output/print.ts';
import type { TableColumn } from '../../output/table.ts';
import { subjectName } from '../subject-argument.ts';

const colors: Readonly<Partial<Record<QueueItem['state'], Color>>> = {
  unschedulable: 'yellow',
  gated: 'faint',
  inFlight: 'green',
};

/** Prints the entities of the queue. */
export function printQueue(
  list: QueueList,
  options: PrintOptions,
  context: Pick<CommandContext, 'stdout' | 'environment' | 'clock'>,
): void {
  const now = context.clock.now();
  const isOfScheduler = list.basis.source === 'scheduler' || list.basis.source === 'snapshot';
  const columns: readonly TableColumn<QueueItem>[] = [
    { header: 'POS', text: ({ position }) => String(position ?? '') },
    {
      header: 'ENTITY',
      text: ({ subject: { kind, namespace, name } }) => `${kind === 'Pod' ? 'pod' : 'group'} ${namespace}/${name}`,
    },
    {
      header: 'STATE',
      text: ({ state, until }) =>
        until === undefined ? state : `${state} ${formatAge(Math.max(0, Date.parse(until) - now))}`,
      color: ({ state }) => colors[state],
    },
    { header: 'PRIORITY', text: ({ priority }) => String(priority) },
    ...(isOfScheduler ? ofScheduler(now) : []),
  ];
  const why: TableColumn<QueueItem> = { header: 'WHY', text: ({ message = '' }) => message };
  printList(
    {
      object: list,
      columns: [...columns, why],
      wideColumns: [
        ...columns,
        ...(isOfScheduler
          ? [{ header: 'REJECTED BY', text: ({ rejectedBy }: QueueItem) => rejectedBy.join(',') }]
          : []),
        why,
      ],
      name: ({ subject }) => subjectName(subject),
      footer: [totalsLine(list)],
    },
    options,
    context,
  );
}

/** Columns that only the scheduler can fill. */
function ofScheduler(now: number): readonly TableColumn<QueueItem>[] {
  return [
    { header: 'READY', text: ({ readySince }) => ageSince(readySince, now) },
    { header: 'TRIES', text: ({ attempts }) => String(attempts ?? '') },
  ];
}

function totalsLine({ items }: QueueList): string {
  const ready = items.filter(({ position }) => position !== undefined).length;
  return `${items.length} ${items.length === 1 ? 'entity waits' : 'entities wait'}, ${ready} ready`;
}
