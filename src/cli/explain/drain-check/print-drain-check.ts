import { nameOf } from '../../../api/explain/explanation-texts.ts';
import type { DrainCheck, DrainItem, DrainOutcome } from '../../../api/explain/lists.ts';
import type { CommandContext } from '../../command-context.ts';
import type { Color } from '../../output/color.ts';
import { printList, printNote } from '../../output/print.ts';
import type { PrintOptions } from '../../output/print.ts';
import type { TableColumn } from '../../output/table.ts';
import { subjectName } from '../subject-argument.ts';

const colors: Readonly<Record<DrainOutcome, Color>> = {
  safe: 'green',
  interrupts: 'yellow',
  shrinks: 'yellow',
  strands: 'red',
};

const columns: readonly TableColumn<DrainItem>[] = [
  { header: 'GROUP', text: ({ subject }) => nameOf(subject) },
  { header: 'HERE', text: ({ here }) => String(here) },
  { header: 'AFTER/QUORUM', text: ({ after, minMember }) => `${after}/${minMember}` },
  { header: 'FIT', text: ({ fit, here }) => (fit === undefined ? '' : `${fit}/${here}`) },
  {
    header: 'OUTCOME',
    text: ({ outcome = 'unknown' }) => outcome,
    color: ({ outcome }) => outcome && colors[outcome],
  },
  { header: 'NODES', text: ({ assignments }) => [...new Set(assignments.map(({ node }) => node))].sort().join(', ') },
];

/** Prints what a drain would do; what could not be read goes to standard error. */
export function printDrainCheck(
  check: DrainCheck,
  options: PrintOptions,
  context: Pick<CommandContext, 'stdout' | 'stderr' | 'environment'>,
): void {
  printList(
    { object: check, columns, name: ({ subject }) => subjectName(subject), footer: footerOf(check) },
    options,
    context,
  );
  for (const { part, message } of check.errors) printNote(`${part}: ${message}`, context);
}

function footerOf({ nodes, items, budgets, lost, notJudged, basis }: DrainCheck): readonly string[] {
  return [
    `${items.length} ${items.length === 1 ? 'group has' : 'groups have'} members on ${nodes.join(', ')}.`,
    ...budgets.map(
      ({ namespace, name, allowed, needed }) =>
        `PodDisruptionBudget ${namespace}/${name} allows ${allowed} evictions; the drain needs ${needed}.`,
    ),
    ...lost.map((subject) => `Pod ${nameOf(subject)} has no controller and would be lost.`),
    ...(notJudged === 0 ? [] : [`${notJudged} pods of other schedulers were not judged.`]),
    ...(basis.unknowns.includes('workCap') ? ['The queue is too long to try all of it.'] : []),
  ];
}
