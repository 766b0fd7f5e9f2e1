import { formatAmount } from '../../api/format-amount.ts';
import { resultDetail, eventLine, minGroupWidth, printable, seconds } from './event-line.ts';
import type { GangRecord } from './gang-history.ts';
import { isFinished, shownName } from './observed.ts';
import type { ObservedNode, ObservedPod } from './observed.ts';
import type { Story, StoryEvent } from './story.ts';
import { groupColor, onGroupColor, span } from './styled-line.ts';
import type { GroupColor, Span, StyledLine } from './styled-line.ts';
import { fitToColumns, textColumns, wrapToColumns } from './text-columns.ts';

export interface FrameInput {
  readonly nowMs: number;
  readonly story: Story;
  /** Recent events, newest last. The frame shows the newest ones that fit. */
  readonly recent: readonly StoryEvent[];
  /** Whether the scenario has ended. */
  readonly isOver: boolean;
  /** The result; empty while the scenario runs and after any later event. */
  readonly conclusion: readonly string[];
  /** Help for the keys; empty without a keyboard. */
  readonly keys: string;
  readonly columns: number;
  readonly rows: number;
}

const maxVerdictLines = 3;
/** Maximum width of a name: 24 columns, or a quarter of a wider terminal. */
const maxNameWidth = (columns: number): number => Math.max(24, columns >> 2);
/** Width of `+1000 more `. */
const moreWidth = 11;

/** Returns one frame with nodes, groups and recent events: at most `rows - 1` lines, so that the terminal does not scroll. */
export function liveFrame(input: FrameInput): readonly StyledLine[] {
  const { story, conclusion, keys, rows } = input;
  const records = story.history.groups();
  const colors = new Map(records.map(({ group }, index) => [group, groupColor(shownName(group), index)]));
  const footer: StyledLine[] = keys === '' ? [] : [[span(keys, 'faint')]];
  const closing: StyledLine[] = conclusion.length === 0 ? [] : [[], ...conclusion.map((line) => [span(line)])];
  const head: StyledLine[] = [title(input), [], ...nodeLines(input, colors), []];
  const capacity = Math.max(0, rows - 1 - head.length - closing.length - footer.length);
  const groups = groupSection(input, capacity, colors);
  const left = capacity - groups.length - 1;
  const recent = left <= 0 ? [] : input.recent.slice(-left);
  const latest = recent.length === 0 ? [] : [[], ...recentLines(recent, input.columns, colors)];
  const lines = [...head, ...groups, ...latest, ...closing];
  const gap = footer.length > 0 && lines.length + footer.length < rows - 1 ? [[]] : [];
  return [...lines, ...gap, ...footer].slice(0, Math.max(rows - 1, 1));
}

type Colors = ReadonlyMap<string, GroupColor>;

/** Shows tenths of a second while the scenario runs, then whole seconds, so that an idle control plane rarely redraws. */
function title({ nowMs, isOver }: FrameInput): StyledLine {
  const time = isOver ? `${Math.floor(nowMs / 1_000)}s` : seconds(nowMs).replace(/\d(?=s$)/, '');
  return [span('tutti up', 'bold'), span(`  ${time}`, 'faint')];
}

function nodeLines({ story, columns, rows }: FrameInput, colors: Colors): StyledLine[] {
  const nodes = story.nodes();
  const pods = story.pods();
  const labelWidth = widthOf(
    nodes.map(({ name }) => name),
    columns,
  );
  const cellWidth = Math.max(
    5,
    widthOf(
      pods.map(({ key }) => shownName(key)),
      columns,
    ),
  );
  const shownNodes = nodes.slice(0, Math.max(1, Math.floor(rows / 3)));
  /** Node name -> unfinished pods bound to the node */
  const podsByNode = new Map(shownNodes.map(({ name }): [string, ObservedPod[]] => [name, []]));
  for (const pod of pods) if (pod.nodeName !== undefined && !isFinished(pod)) podsByNode.get(pod.nodeName)?.push(pod);
  const rowsOfNodes = shownNodes.map((node) => {
    const here = podsByNode.get(node.name)!;
    const free = freeText(node, here);
    const capacity = columns - labelWidth - textColumns(free) - 4;
    const fitting = Math.max(1, Math.floor(capacity / (cellWidth + 3)));
    // The count of hidden pods takes columns, too.
    const maxCells =
      here.length <= fitting ? fitting : Math.max(1, Math.floor((capacity - moreWidth) / (cellWidth + 3)));
    const cells: Span[] = here.slice(0, maxCells).flatMap((pod) => [podCell(pod, cellWidth, colors), span(' ')]);
    const hidden = Math.max(0, here.length - maxCells);
    if (hidden > 0) cells.push(span(`+${hidden} more `, 'faint'));
    return { node, cells, free };
  });
  const slots = Math.max(0, ...rowsOfNodes.map(({ cells }) => cellColumns(cells)));
  const lines = rowsOfNodes.map(({ node, cells, free }): StyledLine => [
    span(`${fitToColumns(node.name, labelWidth)}  `),
    ...cells,
    span(' '.repeat(slots - cellColumns(cells))),
    span(free, 'faint'),
  ]);
  if (nodes.length > shownNodes.length)
    lines.push([span(`… and ${nodes.length - shownNodes.length} more nodes`, 'faint')]);
  return lines;
}

function cellColumns(cells: readonly Span[]): number {
  return cells.reduce((sum, { text }) => sum + textColumns(text), 0);
}

/** Returns text such as `500m of 2 cpu free, 6 of 8 nvidia.com/gpu free`. */
function freeText({ allocatable }: ObservedNode, pods: readonly ObservedPod[]): string {
  const parts = Object.entries(allocatable).map(([resource, all]) => {
    const used = pods.reduce((sum, { requests }) => sum + (requests[resource] ?? 0), 0);
    return `${formatAmount(resource, Math.max(0, all - used))} of ${formatAmount(resource, all)} ${resource} free`;
  });
  return parts.join(', ');
}

/** Draws a running pod as a filled block and a pod that is only bound as an outline. Without colors, the brackets differ. */
function podCell(pod: ObservedPod, width: number, colors: Colors): Span {
  const name = fitToColumns(shownName(pod.key), width);
  const color = pod.group === undefined ? undefined : colors.get(pod.group);
  if (pod.phase !== 'Running') return color === undefined ? span(`(${name})`) : span(`(${name})`, color);
  return color === undefined ? span(`[${name}]`, 'bold') : span(`[${name}]`, onGroupColor(color), 'bold');
}

/**
 * Returns all groups in the order of appearance if they fit. Otherwise, partially bound groups come first, then pending ones, each with
 * one verdict line, and a last line counts the groups that do not fit.
 */
function groupSection(input: FrameInput, capacity: number, colors: Colors): StyledLine[] {
  const records = input.story.history.groups();
  const width = Math.max(
    minGroupWidth,
    widthOf(
      records.map(({ group }) => shownName(group)),
      input.columns,
    ),
  );
  const draw = (record: GangRecord, verdictLines: number): StyledLine[] =>
    groupLines(input, { record, width, verdictLines }, colors);
  const complete = records.flatMap((record) => draw(record, maxVerdictLines));
  if (complete.length <= capacity) return complete;
  const ranked = records.toSorted((a, b) => ranks.indexOf(stateOf(a).text) - ranks.indexOf(stateOf(b).text));
  const lines: StyledLine[] = [];
  let shown = 0;
  for (const record of ranked) {
    const drawn = draw(record, 1);
    if (lines.length + drawn.length > capacity - 1) break;
    lines.push(...drawn);
    shown++;
  }
  const others = ranked.slice(shown);
  if (others.length === 0) return lines;
  const counts = ranks
    .map((text) => [others.filter((record) => stateOf(record).text === text).length, text] as const)
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${count} ${text}`);
  return [...lines, [span(`… and ${others.length} more: ${counts.join(', ')}`, 'faint')]];
}

interface DrawnGroup {
  readonly record: GangRecord;
  readonly width: number;
  readonly verdictLines: number;
}

function groupLines(
  { story, columns }: FrameInput,
  { record, width, verdictLines }: DrawnGroup,
  colors: Colors,
): StyledLine[] {
  const { group, bound, minMember, members, running } = record;
  const color = colors.get(group) ?? 'cyan';
  const state = stateOf(record);
  const dots = Math.min(Math.max(minMember ?? 0, members), 12);
  const filled = dots === 0 ? 0 : Math.round((Math.min(bound, dots) / dots) * dots);
  const done = record.succeeded + record.failed;
  const first: StyledLine = [
    span(fitToColumns(shownName(group), width), color, 'bold'),
    span('  '),
    span('●'.repeat(filled), color),
    span('○'.repeat(dots - filled), 'faint'),
    span('  '),
    span(state.text.padEnd(11), ...state.styles),
    span(`${boundText(record)}, ${done > 0 ? resultDetail(record.succeeded, record.failed) : `${running} running`}`),
  ];
  const verdict = record.state === 'scheduled' ? undefined : story.groupVerdict(group);
  if (verdict === undefined) return [first];
  const indent = ' '.repeat(width + 2);
  const lines = wrapToColumns(printable(verdict), Math.max(20, columns - indent.length), verdictLines);
  return [first, ...lines.map((line): StyledLine => [span(indent + line, 'faint')])];
}

/** An elastic group can have more bound members than minMember. */
function boundText({ bound, minMember }: GangRecord): string {
  return minMember !== undefined && bound > minMember
    ? `${bound} bound, minMember ${minMember}`
    : `${bound} of ${minMember ?? '?'} bound`;
}

/** States of a group, those first that may need attention. */
const ranks = ['partial', 'pending', 'scheduled', 'finished'] as const;

function stateOf(record: GangRecord): { readonly text: (typeof ranks)[number]; readonly styles: Span['styles'] } {
  if (record.finishedAtMs !== undefined) return { text: 'finished', styles: ['green'] };
  if (record.state === 'scheduled') return { text: 'scheduled', styles: ['green', 'bold'] };
  if (record.state === 'partial') return { text: 'partial', styles: ['yellow', 'bold'] };
  return { text: 'pending', styles: [] };
}

function recentLines(events: readonly StoryEvent[], columns: number, colors: Colors): StyledLine[] {
  const lines = events.map(eventLine);
  const width = Math.max(
    minGroupWidth,
    widthOf(
      lines.map(({ group }) => group),
      columns,
    ),
  );
  return lines.map(({ time, group, groupKey, verb, detail }) => {
    const color = groupKey === undefined ? undefined : colors.get(groupKey);
    const isLoud = verb === verb.toUpperCase();
    return [
      span(`${time.padStart(8)}  `, 'faint'),
      span(`${fitToColumns(group, width)}  `, ...(color === undefined ? [] : [color])),
      span(verb.padEnd(10), ...(isLoud ? (['bold'] as const) : [])),
      span(detail),
    ];
  });
}

function widthOf(names: readonly string[], columns: number): number {
  return names.reduce((widest, name) => Math.max(widest, Math.min(textColumns(name), maxNameWidth(columns))), 0);
}
