import { nameOf } from '../../../api/explain/explanation-texts.ts';
import type { PlanItem, PlanResult } from '../../../api/explain/lists.ts';
import { safeText } from '../../../base/safe-text.ts';
import type { CommandContext } from '../../command-context.ts';
import { colored, usesColor } from '../../output/color.ts';
import type { ColorMode } from '../../output/color.ts';
import { printNote } from '../../output/print.ts';
import { basisLine, explanationLines } from '../why/print-explanation.ts';

/** How many victims a line names. */
const maxNamed = 8;

/** Prints a plan for people; what could not be planned goes to standard error. */
export function printPlan(
  { items, basis, errors }: PlanResult,
  { color }: { readonly color: ColorMode },
  context: Pick<CommandContext, 'stdout' | 'stderr' | 'environment' | 'clock'>,
): void {
  const { stdout, environment, clock } = context;
  const hasColors = usesColor(color, stdout, environment);
  const blocks = items.map((item) => [
    headline(item, hasColors),
    ...nodeLines(item),
    ...(item.victims === undefined ? [] : [safeText(`  preemption would evict ${namesOf(item.victims.map(nameOf))}`)]),
    ...(item.explanation === undefined ? [] : explanationLines(item.explanation, clock.now()).map(indented)),
  ]);
  const { version } = basis;
  const lines = [
    ...blocks.flat(),
    basisLine(basis),
    ...(version === undefined ? [] : [`Cluster version ${version}. Nodes that score equally may be exchanged.`]),
  ];
  stdout.write(`${lines.join('\n').trimStart()}\n`);
  for (const { part, message } of errors) printNote(`${part}: ${message}`, context);
}

function headline({ subject, fits, members, minMember, assignments }: PlanItem, hasColors: boolean): string {
  const isKnown = fits !== undefined;
  const verdict = isKnown ? (fits ? 'would start now' : 'would not start now') : 'unknown whether it would start now';
  const shown = hasColors ? colored(verdict, fits === true ? 'green' : 'yellow') : verdict;
  const kind = subject.kind === 'Pod' ? 'pod' : 'group';
  const name = safeText(`${kind} ${nameOf(subject)}`);
  if (subject.kind === 'Pod') return `${name}: ${shown}`;
  const placed = isKnown ? `${assignments.length} of ${members} members placed` : `${members} members`;
  return `${name}: ${shown}; ${placed}, ${minMember} needed`;
}

/** One line per node, with its members. */
function nodeLines({ assignments }: PlanItem): readonly string[] {
  /** node -> members */
  const byNode = Map.groupBy(assignments, ({ node }) => node);
  return [...byNode]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, on]) => safeText(`  ${node}: ${namesOf(on.map(({ member }) => member))}`));
}

function namesOf(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function indented(line: string): string {
  return line === '' ? line : `  ${line}`;
}
