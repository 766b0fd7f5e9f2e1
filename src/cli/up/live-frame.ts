import { formatAmount } from '../../api/format-amount.ts';
import { doneDetail, eventLine, leastGroupWidth, printable, seconds } from './event-line.ts';
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
  /** The latest events, the newest last; as many are drawn as there is room for. */
  readonly recent: readonly StoryEvent[];
  /** The scenario is over. */
  readonly isOver: boolean;
  /** What came of it; empty while it goes on, and when something has happened since. */
  readonly conclusion: readonly string[];
  /** What keys do; empty when nobody listens to them. */
  readonly keys: string;
  readonly columns: number;
  readonly rows: number;
}

const mostVerdictLines = 3;
/** What is shown of a name is at most so wide; in a wide terminal a quarter of it. */
const widestName = (columns: number): number => Math.max(24, columns >> 2);
/** `+1000 more ` */
const moreWidth = 11;

/** One picture of nodes, groups and what happened last; at most `rows - 1` lines, so that the terminal does not scroll. */
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

/** In tenths of a second; in seconds when the scenario is over, so that a quiet plane seldom writes. */
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
  /** node -> what is there and has not ended */
  const onNodes = new Map(shownNodes.map(({ name }): [string, ObservedPod[]] => [name, []]));
  for (const pod of pods) if (pod.nodeName !== undefined && !isFinished(pod)) onNodes.get(pod.nodeName)?.push(pod);
  const rowsOfNodes = shownNodes.map((node) => {
    const here = onNodes.get(node.name)!;
    const free = freeText(node, here);
    const capacity = columns - labelWidth - textColumns(free) - 4;
    const fitting = Math.max(1, Math.floor(capacity / (cellWidth + 3)));
    // What says how many more there are takes room, too.
    const most = here.length <= fitting ? fitting : Math.max(1, Math.floor((capacity - moreWidth) / (cellWidth + 3)));
    const cells: Span[] = here.slice(0, most).flatMap((pod) => [podCell(pod, cellWidth, colors), span(' ')]);
    const hidden = Math.max(0, here.length - most);
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

/** `500m of 2 cpu free, 6 of 8 nvidia.com/gpu free` */
function freeText({ allocatable }: ObservedNode, pods: readonly ObservedPod[]): string {
  const parts = Object.entries(allocatable).map(([resource, all]) => {
    const used = pods.reduce((sum, { requests }) => sum + (requests[resource] ?? 0), 0);
    return `${formatAmount(resource, Math.max(0, all - used))} of ${formatAmount(resource, all)} ${resource} free`;
  });
  return parts.join(', ');
}

/** A running pod is a filled block, one that is only bound an outlined one: told apart without colours by their brackets. */
function podCell(pod: ObservedPod, width: number, colors: Colors): Span {
  const name = fitToColumns(shownName(pod.key), width);
  const color = pod.group === undefined ? undefined : colors.get(pod.group);
  if (pod.phase !== 'Running') return color === undefined ? span(`(${name})`) : span(`(${name})`, color);
  return color === undefined ? span(`[${name}]`, 'bold') : span(`[${name}]`, onGroupColor(color), 'bold');
}

/**
 * All groups in the order of their appearance where there is room for them; otherwise those that wait first, with less of their verdicts, and a
 * line that says how many others there are.
 */
function groupSection(input: FrameInput, capacity: number, colors: Colors): StyledLine[] {
  const records = input.story.history.groups();
  const width = Math.max(
    leastGroupWidth,
    widthOf(
      records.map(({ group }) => shownName(group)),
      input.columns,
    ),
  );
  const draw = (record: GangRecord, verdictLines: number): StyledLine[] =>
    groupLines(input, { record, width, verdictLines }, colors);
  const whole = records.flatMap((record) => draw(record, mostVerdictLines));
  if (whole.length <= capacity) return whole;
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
    span(state.text.padEnd(9), ...state.styles),
    span(`${boundText(record)}, ${done > 0 ? doneDetail(record.succeeded, record.failed) : `${running} running`}`),
  ];
  const verdict = record.state === 'whole' ? undefined : story.groupVerdict(group);
  if (verdict === undefined) return [first];
  const indent = ' '.repeat(width + 2);
  const lines = wrapToColumns(printable(verdict), Math.max(20, columns - indent.length), verdictLines);
  return [first, ...lines.map((line): StyledLine => [span(indent + line, 'faint')])];
}

/** Of an elastic group more are bound than it needs. */
function boundText({ bound, minMember }: GangRecord): string {
  return minMember !== undefined && bound > minMember
    ? `${bound} bound, ${minMember} needed`
    : `${bound} of ${minMember ?? '?'} bound`;
}

/** What a group is said to be, those first that somebody may want to do something about. */
const ranks = ['partial', 'waits', 'whole', 'done'] as const;

function stateOf(record: GangRecord): { readonly text: (typeof ranks)[number]; readonly styles: Span['styles'] } {
  if (record.finishedAtMs !== undefined) return { text: 'done', styles: ['green'] };
  if (record.state === 'whole') return { text: 'whole', styles: ['green', 'bold'] };
  if (record.state === 'partial') return { text: 'partial', styles: ['yellow', 'bold'] };
  return { text: 'waits', styles: [] };
}

function recentLines(events: readonly StoryEvent[], columns: number, colors: Colors): StyledLine[] {
  const lines = events.map(eventLine);
  const width = Math.max(
    leastGroupWidth,
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
  return names.reduce((widest, name) => Math.max(widest, Math.min(textColumns(name), widestName(columns))), 0);
}
