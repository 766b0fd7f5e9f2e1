import { doneDetail, eventLine, leastGroupWidth, printable, seconds } from './event-line.ts';
import type { GangRecord } from './gang-history.ts';
import { isFinished, shownName } from './observed.ts';
import type { ObservedPod } from './observed.ts';
import type { Story, StoryEvent } from './story.ts';
import { groupColor, onGroupColor, span, wrap } from './styled-line.ts';
import type { GroupColor, Span, StyledLine } from './styled-line.ts';

/** A simulated node, as it is drawn. */
export interface DrawnNode {
  readonly name: string;
  readonly milliCpu: number;
}

export interface FrameInput {
  readonly nowMs: number;
  readonly nodes: readonly DrawnNode[];
  readonly story: Story;
  /** The latest events, the newest last; as many are drawn as there is room for. */
  readonly recent: readonly StoryEvent[];
  /** What came of it; empty while it goes on. */
  readonly conclusion: readonly string[];
  readonly columns: number;
  readonly rows: number;
}

const mostRecentDrawn = 8;
const mostVerdictLines = 3;
const widestName = 24;

/** One picture of nodes, groups and what happened last; at most `rows - 1` lines, so that the terminal does not scroll. */
export function liveFrame(input: FrameInput): readonly StyledLine[] {
  const { nowMs, story, conclusion, rows } = input;
  const groups = story.history.groups();
  const colors = new Map(groups.map(({ group }, index) => [group, groupColor(shownName(group), index)]));
  const title = [span('tutti up', 'bold'), span(`  ${seconds(nowMs).replace(/\d(?=s$)/, '')}`, 'faint')];
  const fixed: StyledLine[] = [
    title,
    [],
    ...nodeLines(input, colors),
    [],
    ...groups.flatMap((group) => groupLines(input, group, colors)),
  ];
  const closing: StyledLine[] = conclusion.map((line) => [span(line)]);
  const room = rows - 1 - fixed.length - (closing.length === 0 ? 0 : closing.length + 1) - 1;
  const recent = room <= 0 ? [] : input.recent.slice(-Math.min(room, mostRecentDrawn));
  const lines = [...fixed];
  if (recent.length > 0) lines.push([], ...recentLines(recent, colors));
  if (closing.length > 0) lines.push([], ...closing);
  return lines.slice(0, Math.max(rows - 1, 1));
}

type Colors = ReadonlyMap<string, GroupColor>;

function nodeLines({ nodes, story, columns, rows }: FrameInput, colors: Colors): StyledLine[] {
  const pods = story.pods();
  const present = pods.filter((pod) => !isFinished(pod));
  const requests = present.map(({ milliCpu }) => milliCpu).filter((milliCpu) => milliCpu > 0);
  const slotMilliCpu = requests.length === 0 ? 1_000 : Math.min(...requests);
  const labelWidth = widthOf(nodes.map(({ name }) => name));
  const cellWidth = Math.max(
    5,
    Math.min(widestName, ...[Math.max(0, ...pods.map(({ key }) => shownName(key).length))]),
  );
  const most = Math.max(1, Math.floor((columns - labelWidth - 12) / (cellWidth + 3)));
  const shownNodes = nodes.slice(0, Math.max(1, Math.floor(rows / 3)));
  const lines = shownNodes.map((node): StyledLine => {
    const here = present.filter(({ nodeName }) => nodeName === node.name);
    const used = here.reduce((sum, { milliCpu }) => sum + milliCpu, 0);
    const free = Math.max(0, Math.floor((node.milliCpu - used) / slotMilliCpu));
    const cells: Span[] = here.slice(0, most).flatMap((pod) => [podCell(pod, cellWidth, colors), span(' ')]);
    for (let slot = 0; slot < Math.min(free, most - here.length); slot++) {
      cells.push(span(` ${'free'.padEnd(cellWidth, ' ')} `.replaceAll(' ', '·'), 'faint'), span(' '));
    }
    const hidden = Math.max(0, here.length - most);
    const more = hidden > 0 ? [span(`+${hidden} more`, 'faint')] : [];
    return [span(`${node.name.slice(0, labelWidth).padEnd(labelWidth)}  `), ...cells, ...more];
  });
  if (nodes.length > shownNodes.length)
    lines.push([span(`… and ${nodes.length - shownNodes.length} more nodes`, 'faint')]);
  return lines;
}

/** A running pod is a filled block, one that is only bound an outlined one: told apart without colours by their brackets. */
function podCell(pod: ObservedPod, width: number, colors: Colors): Span {
  const name = shownName(pod.key).slice(0, width).padEnd(width);
  const color = pod.group === undefined ? undefined : colors.get(pod.group);
  if (pod.phase !== 'Running') return color === undefined ? span(`(${name})`) : span(`(${name})`, color);
  return color === undefined ? span(`[${name}]`, 'bold') : span(`[${name}]`, onGroupColor(color), 'bold');
}

function groupLines({ story, columns }: FrameInput, record: GangRecord, colors: Colors): StyledLine[] {
  const { group, bound, minMember, members, running } = record;
  const color = colors.get(group) ?? 'cyan';
  const width = Math.max(leastGroupWidth, widthOf(story.history.groups().map(({ group: key }) => shownName(key))));
  const state = stateOf(record);
  const dots = Math.min(Math.max(minMember ?? 0, members), 12);
  const filled = dots === 0 ? 0 : Math.round((Math.min(bound, dots) / dots) * dots);
  const done = record.succeeded + record.failed;
  const first: StyledLine = [
    span(shownName(group).slice(0, width).padEnd(width), color, 'bold'),
    span('  '),
    span('●'.repeat(filled), color),
    span('○'.repeat(dots - filled), 'faint'),
    span('  '),
    span(state.text.padEnd(9), ...state.styles),
    span(
      `${bound} of ${minMember ?? '?'} bound, ${done > 0 ? doneDetail(record.succeeded, record.failed) : `${running} running`}`,
    ),
  ];
  const verdict = record.state === 'whole' ? undefined : story.groupVerdict(group);
  if (verdict === undefined) return [first];
  const indent = ' '.repeat(width + 2);
  const lines = wrap(printable(verdict), Math.max(20, columns - indent.length), mostVerdictLines);
  return [first, ...lines.map((line): StyledLine => [span(indent + line, 'faint')])];
}

function stateOf(record: GangRecord): { readonly text: string; readonly styles: Span['styles'] } {
  if (record.finishedAtMs !== undefined) return { text: 'done', styles: ['green'] };
  if (record.state === 'whole') return { text: 'whole', styles: ['green', 'bold'] };
  if (record.state === 'partial') return { text: 'partial', styles: ['yellow', 'bold'] };
  return { text: 'waits', styles: [] };
}

function recentLines(events: readonly StoryEvent[], colors: Colors): StyledLine[] {
  const lines = events.map(eventLine);
  const width = Math.max(leastGroupWidth, widthOf(lines.map(({ group }) => group)));
  return lines.map(({ time, group, groupKey, verb, detail }) => {
    const color = groupKey === undefined ? undefined : colors.get(groupKey);
    const isLoud = verb === verb.toUpperCase();
    return [
      span(`${time.padStart(8)}  `, 'faint'),
      span(`${group.slice(0, width).padEnd(width)}  `, ...(color === undefined ? [] : [color])),
      span(verb.padEnd(10), ...(isLoud ? (['bold'] as const) : [])),
      span(detail),
    ];
  });
}

function widthOf(names: readonly string[]): number {
  return Math.min(widestName, Math.max(0, ...names.map((name) => name.length)));
}
