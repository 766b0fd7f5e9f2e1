import type { ReplayItem, SnapshotReplay } from '../../../api/explain/snapshot-replay.ts';
import { safeText } from '../../../base/safe-text.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatAge } from '../../output/age.ts';
import { printList } from '../../output/print.ts';
import type { PrintOptions } from '../../output/print.ts';
import type { TableColumn } from '../../output/table.ts';
import { subjectName } from '../subject-argument.ts';

/** Why verdicts are not compared -> how the summary says it. */
const reasons: Readonly<Partial<Record<ReplayItem['verdict'], string>>> = {
  changed: 'the cluster has changed since the attempt',
  retrying: 'the next attempt is due',
  memory: 'they depend on what only the scheduler knows',
  source: 'they come from conditions',
  workLimit: 'the scheduler skipped a check',
};

const columns: readonly TableColumn<ReplayItem>[] = [
  {
    header: 'ENTITY',
    text: ({ subject: { kind, namespace, name } }) => `${kind === 'Pod' ? 'pod' : 'group'} ${namespace}/${name}`,
  },
  { header: 'PLAN', text: ({ plan }) => plan, color: ({ plan }) => (plan === 'differs' ? 'red' : undefined) },
  {
    header: 'VERDICT',
    text: ({ verdict }) => verdict,
    color: ({ verdict }) => (verdict === 'differs' ? 'red' : undefined),
  },
];

/** Prints the entities that differ, or all of them in a wide table, and then the differences. */
export function printReplay(
  replay: SnapshotReplay,
  options: PrintOptions,
  context: Pick<CommandContext, 'stdout' | 'environment'>,
): void {
  const { output } = options;
  const isTable = output === 'table' || output === 'wide';
  const different = replay.items.filter(({ differences }) => differences.length > 0);
  const items = isTable && output !== 'wide' ? different : replay.items;
  printList(
    { object: { ...replay, items }, columns, name: ({ subject }) => subjectName(subject), footer: summary(replay) },
    options,
    context,
  );
  if (!isTable) return;
  for (const item of different) context.stdout.write(detailsOf(item));
}

function detailsOf({ subject, differences }: ReplayItem): string {
  const { namespace, name } = subject;
  const lines = differences.flatMap(({ field, recorded, replayed }) => [
    `${namespace}/${name} ${field}`,
    ...recorded.split('\n').map((line) => `  - ${line}`),
    ...replayed.split('\n').map((line) => `  + ${line}`),
  ]);
  return `\n${lines.map((line) => `${safeText(line)}\n`).join('')}`;
}

function summary({ items, basis, takenBy }: SnapshotReplay): readonly string[] {
  const count = (what: 'plan' | 'verdict', result: string): number =>
    items.filter((item) => item[what] === result).length;
  const notCompared = Object.entries(reasons)
    .map(([verdict, reason]) => [count('verdict', verdict), reason] as const)
    .filter(([number]) => number > 0)
    .map(([number, reason]) => `${number}: ${reason}`);
  return [
    `${items.length} ${items.length === 1 ? 'entity waits' : 'entities wait'} in the snapshot, taken ${formatAge(basis.ageSeconds * 1000)} ago by Tutti ${takenBy}`,
    `plans: ${count('plan', 'same')} the same, ${count('plan', 'differs')} different, ${count('plan', 'none')} not recorded`,
    `verdicts: ${count('verdict', 'same')} the same, ${count('verdict', 'differs')} different, ${count('verdict', 'none')} not recorded`,
    ...(notCompared.length > 0 ? [`verdicts that cannot be compared: ${notCompared.join('; ')}`] : []),
  ];
}
