import type { EntityState } from '../../../api/explain/explanation.ts';
import type { StatusItem, StatusList } from '../../../api/explain/lists.ts';
import type { CommandContext } from '../../command-context.ts';
import { ageSince } from '../../output/age.ts';
import type { Color } from '../../output/color.ts';
import { printList, printNote } from '../../output/print.ts';
import type { PrintOptions } from '../../output/print.ts';
import type { TableColumn } from '../../output/table.ts';
import { subjectName } from '../subject-argument.ts';

/** A row of the table. */
export interface StatusRow extends Omit<StatusItem, 'state'> {
  readonly state: EntityState | 'Deleted';
}

const colors: Readonly<Record<StatusRow['state'], Color | undefined>> = {
  Partial: 'red',
  Waiting: 'yellow',
  Starting: undefined,
  Degraded: 'magenta',
  Running: 'green',
  Finished: 'faint',
  Unknown: 'faint',
  Deleted: 'faint',
};

/** Prints the list, and on standard error the parts that failed. `showsNamespace`: the list may have several. */
export function printStatus(
  list: StatusList,
  showsNamespace: boolean,
  options: PrintOptions,
  context: Pick<CommandContext, 'stdout' | 'stderr' | 'environment' | 'clock'>,
): void {
  const kinds = new Set(list.items.map(({ subject }) => subject.kind));
  const entity = kinds.size > 1 ? 'ENTITY' : kinds.has('Pod') ? 'POD' : 'GROUP';
  const columns = statusColumns({ showsNamespace, entity, now: Date.parse(list.basis.takenAt) });
  printList(
    {
      object: list,
      columns: columns.normal,
      wideColumns: columns.wide,
      name: ({ subject }) => subjectName(subject),
      footer: [totalsLine(list)],
    },
    options,
    context,
  );
  for (const { part, message } of list.errors) printNote(`${part}: ${message}`, context);
}

/** Returns the columns of a table and of a wide one. `entity`: header of the names. `now`: milliseconds since the epoch. */
export function statusColumns({
  showsNamespace,
  entity,
  now,
}: {
  readonly showsNamespace: boolean;
  readonly entity: 'ENTITY' | 'GROUP' | 'POD';
  readonly now: number;
}): Readonly<Record<'normal' | 'wide', readonly TableColumn<StatusRow>[]>> {
  const columns: readonly TableColumn<StatusRow>[] = [
    ...(showsNamespace ? [{ header: 'NAMESPACE', text: ({ subject }: StatusRow) => subject.namespace }] : []),
    {
      header: entity,
      text: ({ subject: { kind, name } }) =>
        entity === 'ENTITY' ? `${kind === 'Pod' ? 'pod' : 'group'}/${name}` : name,
    },
    { header: 'STATE', text: ({ state }) => state, color: ({ state }) => colors[state] },
    { header: 'WAITS FOR', text: ({ waitsFor = '' }) => waitsFor },
    { header: 'BOUND/QUORUM/SIZE', text: ({ bound, minMember, size }) => `${bound}/${minMember}/${size}` },
    { header: 'SINCE', text: ({ since }) => ageSince(since, now) },
  ];
  return {
    normal: [...columns, { header: 'WHY', text: ({ message }) => withoutOwnName(message) }],
    wide: [
      ...columns,
      { header: 'API', text: ({ subject: { source = 'v1' } }) => source },
      { header: 'WHY', text: ({ message }) => message },
    ],
  };
}

/** The row names the group already: drops the beginning `PodGroup ns/red cannot start: `. */
function withoutOwnName(message: string): string {
  return message.replace(/^PodGroup \S+ cannot start: /, '');
}

/** Returns `5 groups: 1 partial, 3 waiting, 1 running`. */
function totalsLine({ items, totals }: StatusList): string {
  const pods = items.filter(({ subject }) => subject.kind === 'Pod').length;
  const groups = items.length - pods;
  const counted = (count: number, noun: string): string => `${count} ${count === 1 ? noun : `${noun}s`}`;
  const parts = [
    ...(groups > 0 || pods === 0 ? [counted(groups, 'group')] : []),
    ...(pods > 0 ? [counted(pods, 'pod')] : []),
  ];
  const states = Object.entries(totals).map(([state, count]) => `${count} ${state.toLowerCase()}`);
  return parts.join(' and ') + (states.length === 0 ? '' : `: ${states.join(', ')}`);
}
