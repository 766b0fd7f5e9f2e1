import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { formatAmount } from '../../api/format-amount.ts';
import { formatDuration } from '../../base/format-duration.ts';
import { resultDetail, eventLine, minGroupWidth, seconds } from './event-line.ts';
import type { EventLine } from './event-line.ts';
import type { GangRecord } from './gang-history.ts';
import type { GangNow, GangWait } from './gang-timeline.ts';
import { isFinished, shownName } from './observed.ts';
import type { ObservedNode, ObservedPod } from './observed.ts';
import type { Story, StoryEvent } from './story.ts';
import { groupColor, span } from './styled-line.ts';
import type { GroupColor, Span, StyledLine } from './styled-line.ts';
import { fitToColumns, textColumns, wrapToColumns } from '../text-columns.ts';

export interface FrameInput {
  readonly nowMs: number;
  readonly story: Story;
  /** Returns how the scheduler sees a group, by its key; undefined: it does not know the group. */
  readonly gang: (group: string) => GangNow | undefined;
  /** Recent events, newest last. The frame shows the newest ones that fit. */
  readonly recent: readonly StoryEvent[];
  /** Whether the scenario has ended. */
  readonly isOver: boolean;
  /** The result, which begins with a line for each group; empty while the scenario runs and after any later event. */
  readonly conclusion: readonly string[];
  /** Shows only nodes, groups and events that contain this text, in any case; empty: all. */
  readonly filter: string;
  /** Help for the keys; empty without a keyboard. */
  readonly keys: string;
  readonly columns: number;
  readonly rows: number;
}

const maxVerdictLines = 3;
/** Maximum width of a name: 24 columns, or a quarter of a wider terminal. */
const maxNameWidth = (columns: number): number => Math.max(24, columns >> 2);
/** Widths of the time and verb columns of events, with their gaps. */
const timeColumns = 10;
const verbColumns = 10;
/** Width of `+1000 more `. */
const moreWidth = 11;

/** Returns one frame with nodes, groups and recent events: at most `rows - 1` lines, so that the terminal does not scroll. */
export function liveFrame(input: FrameInput): readonly StyledLine[] {
  const { story, conclusion, keys, columns, rows } = input;
  const colors = new Map(
    story.history.groups().map(({ group }, index) => [group, groupColor(shownName(group), index)]),
  );
  const footer: StyledLine[] = keys === '' ? [] : [[span(keys, 'faint')]];
  const closingOf = (lines: readonly string[]): StyledLine[] =>
    lines.length === 0 ? [] : [[], ...lines.flatMap((line) => wrappedLine(line, columns).map((part) => [span(part)]))];
  const head: StyledLine[] = [title(input), [], ...nodeLines(input, colors), []];
  const space = Math.max(0, rows - 1 - head.length - footer.length);
  // If space is short, the lines of the groups replace those that the conclusion has for them.
  const short = closingOf(conclusion.slice(colors.size));
  const groups = groupSection(input, Math.max(0, space - short.length), colors);
  const complete = closingOf(conclusion);
  const closing = groups.length + complete.length > space ? short : complete;
  const left = space - closing.length - groups.length - 1;
  const recent = left <= 0 ? [] : recentLines(input, left, colors);
  const latest = recent.length === 0 ? [] : [[], ...recent];
  const lines = [...head, ...groups, ...latest, ...closing];
  const gap = footer.length > 0 && lines.length + footer.length < rows - 1 ? [[]] : [];
  return [...lines, ...gap, ...footer].slice(0, Math.max(rows - 1, 1));
}

type Colors = ReadonlyMap<string, GroupColor>;

function matches({ filter }: FrameInput, ...texts: readonly string[]): boolean {
  return texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));
}

/** Wraps a line between words. Leaves a line that fits, or with a single argument, such as a path to copy, as it is. */
export function wrappedLine(line: string, columns: number): readonly string[] {
  return textColumns(line) > columns && /\S \S+ /.test(line) ? wrapToColumns(line, columns) : [line];
}

/** Shows tenths of a second while the scenario runs, then whole seconds, so that an idle control plane rarely redraws. */
function title({ nowMs, isOver }: FrameInput): StyledLine {
  const time = isOver ? `${Math.floor(nowMs / 1_000)}s` : seconds(nowMs).replace(/\d(?=s$)/, '');
  return [span('tutti up', 'bold'), span(`  ${time}`, 'faint')];
}

/** With a filter, shows the nodes with matching names, and on other nodes only the matching pods. */
function nodeLines(input: FrameInput, colors: Colors): StyledLine[] {
  const { story, columns, rows } = input;
  const pods = story.pods();
  /** Node name -> unfinished pods bound to the node */
  const podsByNode = new Map(story.nodes().map(({ name }): [string, ObservedPod[]] => [name, []]));
  for (const pod of pods) if (pod.nodeName !== undefined && !isFinished(pod)) podsByNode.get(pod.nodeName)?.push(pod);
  const isMatch = ({ key, group = '' }: ObservedPod): boolean => matches(input, shownName(key), shownName(group));
  const nodes = story.nodes().filter(({ name }) => matches(input, name) || podsByNode.get(name)!.some(isMatch));
  const labelWidth = widthOf(nodes, ({ name }) => name, columns);
  const cellWidth = Math.max(
    5,
    widthOf(pods, ({ key }) => shownName(key), columns),
  );
  const shownNodes = nodes.slice(0, Math.max(1, Math.floor(rows / 3)));
  const rowsOfNodes = shownNodes.map((node) => {
    const here = podsByNode.get(node.name)!;
    const shown = matches(input, node.name) ? here : here.filter(isMatch);
    const free = freeText(node, here);
    const capacity = columns - labelWidth - textColumns(free) - 4;
    const fitting = Math.max(1, Math.floor(capacity / (cellWidth + 3)));
    // The count of hidden pods takes columns, too.
    const maxCells =
      here.length <= fitting ? fitting : Math.max(1, Math.floor((capacity - moreWidth) / (cellWidth + 3)));
    const cells: Span[] = shown.slice(0, maxCells).flatMap((pod) => [podCell(pod, cellWidth, colors), span(' ')]);
    const hidden = here.length - Math.min(shown.length, maxCells);
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
  return color === undefined ? span(`[${name}]`, 'bold') : span(`[${name}]`, color, 'inverse', 'bold');
}

/**
 * Returns all groups in the order of appearance if they fit. Otherwise, partially bound groups come first, then pending ones, each with
 * one verdict line, and a last line counts the groups that do not fit.
 */
function groupSection(input: FrameInput, capacity: number, colors: Colors): StyledLine[] {
  const records = input.story.history.groups().filter(({ group }) => matches(input, shownName(group)));
  const dotsWidth = Math.max(0, ...records.map(dotsOf));
  const width = Math.max(
    minGroupWidth,
    widthOf(records, ({ group }) => shownName(group), input.columns),
  );
  const draw = (record: GangRecord, verdictLines: number): StyledLine[] =>
    groupLines(input, { record, width, dotsWidth, verdictLines }, colors);
  const complete = records.flatMap((record) => draw(record, maxVerdictLines));
  if (complete.length <= capacity) return complete;
  const labelOf = (record: GangRecord): Label => labels[stateOf(record, input.gang(record.group))];
  const ranked = records.toSorted((a, b) => ranks.indexOf(labelOf(a).text) - ranks.indexOf(labelOf(b).text));
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
    .map((text) => [others.filter((record) => labelOf(record).text === text).length, text] as const)
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${count} ${text}`);
  return [...lines, [span(`… and ${others.length} more: ${counts.join(', ')}`, 'faint')]];
}

interface DrawnGroup {
  readonly record: GangRecord;
  readonly width: number;
  readonly dotsWidth: number;
  readonly verdictLines: number;
}

function groupLines(
  { story, columns, gang }: FrameInput,
  { record, width, dotsWidth, verdictLines }: DrawnGroup,
  colors: Colors,
): StyledLine[] {
  const { group } = record;
  const color = colors.get(group) ?? 'cyan';
  const now = gang(group);
  // The timeline is a little late, and the number has to fit its state.
  const bound = now?.wait?.bound ?? record.bound;
  const label = labels[stateOf(record, now)];
  const dots = dotsOf(record);
  const filled = Math.min(bound, dots);
  const first: StyledLine = [
    span(fitToColumns(shownName(group), width), color, 'bold'),
    span('  '),
    span('●'.repeat(filled), color),
    span('○'.repeat(dots - filled), 'faint'),
    span(' '.repeat(dotsWidth - dots + 2)),
    span(label.text.padEnd(11), ...label.styles),
    span(`${boundText(bound, record)}, ${progressText(record, now?.wait)}`),
  ];
  const verdict = record.state === 'scheduled' ? undefined : story.groupVerdict(group);
  if (verdict === undefined) return [first];
  const indent = ' '.repeat(width + 2);
  const lines = wrapToColumns(verdict, Math.max(20, columns - indent.length), verdictLines);
  return [first, ...lines.map((line): StyledLine => [span(indent + line, 'faint')])];
}

const maxDots = 12;

/** Returns the number of dots for the members, at most `maxDots`. */
function dotsOf({ minMember, members }: GangRecord): number {
  return Math.min(Math.max(minMember ?? 0, members), maxDots);
}

/** Shows the time that a group has waited in whole seconds, so that an idle control plane rarely redraws. */
function progressText({ succeeded, failed, running }: GangRecord, wait: GangWait | undefined): string {
  const progress = succeeded + failed > 0 ? resultDetail(succeeded, failed) : `${running} running`;
  if (wait === undefined) return progress;
  const cause = wait.cause === undefined ? '' : ` (${wait.cause})`;
  const waiting = `waiting ${formatDuration(Math.max(0, Math.floor(wait.ms / 1_000)) * 1_000)}${cause}`;
  return wait.bound === 0 ? waiting : `${waiting}, ${progress}`;
}

/** An elastic group can have more bound members than minMember. */
function boundText(bound: number, { minMember }: GangRecord): string {
  return minMember !== undefined && bound > minMember
    ? `${bound} bound, minMember ${minMember}`
    : `${bound} of ${minMember ?? '?'} bound`;
}

/** Names of states, those first that may need attention. */
const ranks = ['partial', 'degraded', 'pending', 'planned', 'unknown', 'scheduled', 'failed', 'finished'] as const;

interface Label {
  readonly text: (typeof ranks)[number];
  readonly styles: Span['styles'];
}

const pending: Label = { text: 'pending', styles: [] };
const labels: Readonly<Record<TimelineState, Label>> = {
  NotReady: pending,
  Waiting: pending,
  Starting: { text: 'planned', styles: [] },
  Partial: { text: 'partial', styles: ['yellow', 'bold'] },
  Running: { text: 'scheduled', styles: ['green', 'bold'] },
  Degraded: { text: 'degraded', styles: ['yellow', 'bold'] },
  Finished: { text: 'finished', styles: ['green'] },
  Failed: { text: 'failed', styles: ['yellow'] },
  Gone: pending,
  Unknown: { text: 'unknown', styles: [] },
};

/** Returns the state that the scheduler has recorded; of a group that it does not know, what the API server shows. */
function stateOf({ state, finishedAtMs }: GangRecord, now: GangNow | undefined): TimelineState {
  if (now !== undefined) return now.state;
  if (finishedAtMs !== undefined) return 'Finished';
  return state === 'scheduled' ? 'Running' : state === 'partial' ? 'Partial' : 'Waiting';
}

/** Returns the newest matching events in at most `rows` lines. What needs attention, such as a deadlock, is wrapped, not cut. */
function recentLines(input: FrameInput, rows: number, colors: Colors): StyledLine[] {
  const { columns } = input;
  const lines: EventLine[] = [];
  for (let i = input.recent.length - 1; i >= 0 && lines.length < rows; i--) {
    const line = eventLine(input.recent[i]!);
    if (matches(input, line.group, line.verb, line.detail)) lines.unshift(line);
  }
  const width = Math.max(
    minGroupWidth,
    widthOf(lines, ({ group }) => group, columns),
  );
  const indent = timeColumns + width + 2 + verbColumns;
  const drawn = lines.flatMap(({ time, group, groupKey, verb, detail }): StyledLine[] => {
    const color = groupKey === undefined ? undefined : colors.get(groupKey);
    const isLoud = verb === verb.toUpperCase();
    const [first = '', ...rest] = isLoud ? wrapToColumns(detail, Math.max(20, columns - indent)) : [detail];
    return [
      [
        span(`${time.padStart(timeColumns - 2)}  `, 'faint'),
        span(`${fitToColumns(group, width)}  `, ...(color === undefined ? [] : [color])),
        span(verb.padEnd(verbColumns), ...(isLoud ? (['bold'] as const) : [])),
        span(first),
      ],
      ...rest.map((line) => [span(' '.repeat(indent) + line)]),
    ];
  });
  return drawn.slice(-rows);
}

/** Returns the width of a column with the names of these items. */
function widthOf<T>(items: readonly T[], nameOf: (item: T) => string, columns: number): number {
  const widest = items.reduce((width, item) => Math.max(width, textColumns(nameOf(item))), 0);
  return Math.min(widest, maxNameWidth(columns));
}
