import type { EntityState } from '../../../api/explain/explanation.ts';
import type { StatusItem, StatusList } from '../../../api/explain/lists.ts';
import type { CommandContext } from '../../command-context.ts';
import { ageSince } from '../../output/age.ts';
import type { Color } from '../../output/color.ts';
import { printList, printNote } from '../../output/print.ts';
import type { PrintOptions } from '../../output/print.ts';
import type { TableColumn } from '../../output/table.ts';
import { subjectName } from '../subject-argument.ts';

const colors: Readonly<Record<EntityState, Color | undefined>> = {
  Partial: 'red',
  Waiting: 'yellow',
  Starting: undefined,
  Degraded: 'magenta',
  Running: 'green',
  Finished: 'faint',
  Unknown: 'faint',
};

/** Prints the list, and on standard error the parts that failed. `showsNamespace`: the list may have several. */
export function printStatus(
  list: StatusList,
  showsNamespace: boolean,
  options: PrintOptions,
  context: Pick<CommandContext, 'stdout' | 'stderr' | 'environment' | 'clock'>,
): void {
  const now = context.clock.now();
  const hasBothKinds = new Set(list.items.map(({ subject }) => subject.kind)).size > 1;
  const columns: readonly TableColumn<StatusItem>[] = [
    ...(showsNamespace ? [{ header: 'NAMESPACE', text: ({ subject }: StatusItem) => subject.namespace }] : []),
    {
      header: hasBothKinds ? 'ENTITY' : list.items[0]?.subject.kind === 'Pod' ? 'POD' : 'GROUP',
      text: ({ subject: { kind, name } }) => (hasBothKinds ? `${kind === 'Pod' ? 'pod' : 'group'}/${name}` : name),
    },
    { header: 'STATE', text: ({ state }) => state, color: ({ state }) => colors[state] },
    { header: 'WAITS FOR', text: ({ waitsFor = '' }) => waitsFor },
    { header: 'BOUND/QUORUM/SIZE', text: ({ bound, minMember, size }) => `${bound}/${minMember}/${size}` },
    { header: 'SINCE', text: ({ since }) => ageSince(since, now) },
  ];
  printList(
    {
      object: list,
      columns: [...columns, { header: 'WHY', text: ({ message }) => withoutOwnName(message) }],
      wideColumns: [
        ...columns,
        { header: 'API', text: ({ subject: { source = 'v1' } }) => source },
        { header: 'WHY', text: ({ message }) => message },
      ],
      name: ({ subject }) => subjectName(subject),
      footer: [totalsLine(list)],
    },
    options,
    context,
  );
  for (const { part, message } of list.errors) printNote(`${part}: ${message}`, context);
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
