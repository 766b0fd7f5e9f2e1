import type { Transition } from '../api/timeline/transition.ts';
import { barFont, paintBar, paintReservation } from './bar.ts';
import { countsText } from './describe.ts';
import { segmentsOf } from '../api/timeline/segments.ts';
import type { Lane } from './lane.ts';
import { axisHeight, barHeight, paintName, rowHeight, rowTop } from './rows.ts';
import type { RowsLayout } from './rows.ts';
import { ticksOf, xOf } from './time-scale.ts';
import type { TimeScale } from './time-scale.ts';
import type { Theme } from './theme.ts';

export interface GangsPainting {
  readonly lanes: readonly Lane[];
  readonly layout: RowsLayout;
  readonly scale: TimeScale;
  /** See ClientTimeline. */
  readonly heldSince: number;
  /** The scheduler's time. */
  readonly now: number;
  readonly selected: string | undefined;
  readonly theme: Theme;
}

/** kind -> the sign on the bar. Others change the bar itself. */
const signs: Partial<Record<Transition['kind'], string>> = {
  Rejected: '!',
  BindingFailed: '↩',
  Preempted: '▼',
  Released: '▼',
  Lost: '×',
  Repaired: '+',
  Unknown: '?',
};
/** The least distance of two signs of one lane: more would be a smear. */
const signGap = 7;
const signWidth = 8;

/** Draws the visible lanes, the axis and the line of now. */
export function paintGangs(context: CanvasRenderingContext2D, painting: GangsPainting): void {
  const { lanes, layout, selected, theme } = painting;
  const { nameWidth, width, height, first, count } = layout;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  paintGrid(context, painting);
  for (let row = first; row < Math.min(lanes.length, first + count); row++) {
    const lane = lanes[row]!;
    const top = rowTop(layout, row);
    const isSelected = lane.entity.key === selected;
    if (isSelected) {
      context.fillStyle = theme.selected;
      context.fillRect(0, top, nameWidth, rowHeight);
      context.globalAlpha = 0.6;
      context.fillRect(nameWidth, top, width - nameWidth, rowHeight);
      context.globalAlpha = 1;
    }
    context.save();
    context.beginPath();
    context.rect(nameWidth, top, width - nameWidth, rowHeight);
    context.clip();
    context.translate(nameWidth, top + (rowHeight - barHeight) / 2);
    paintSegments(context, lane, painting);
    paintReservations(context, lane, painting);
    paintSigns(context, lane, painting);
    context.restore();
    paintName(context, layout, row, theme, {
      name: lane.name,
      detail: countsText(lane.entity),
      isSelected,
      isAlarming: lane.entity.state === 'Partial',
    });
  }
  paintTimes(context, painting);
}

function paintSegments(
  context: CanvasRenderingContext2D,
  lane: Lane,
  { scale, heldSince, now, theme }: GangsPainting,
): void {
  const signed = lane.transitions.filter(({ kind }) => signs[kind] !== undefined);
  let next = 0;
  /** Right edges of what is drawn: of any bar, and of a partially bound one. */
  let [drawn, drawnPartial] = [-Infinity, -Infinity];
  for (const { start, end, state } of segmentsOf(lane, heldSince, now)) {
    const left = Math.max(xOf(scale, start), -20);
    // Short states are seen, too.
    const right = Math.max(left + 2, Math.min(xOf(scale, end), scale.width + 20));
    if (right < 0 || left > scale.width) continue;
    // Many in one pixel would take long to draw. A partially bound one is not lost among them.
    if (right < (state === 'Partial' ? drawnPartial : drawn) + 1) continue;
    drawn = right;
    if (state === 'Partial') drawnPartial = right;
    while (next < signed.length && signed[next]!.time < start) next++;
    const hasSign = signed[next]?.time === start;
    const following = signed[hasSign ? next + 1 : next];
    paintBar(context, state, { x: left, y: 0, width: right - left, height: barHeight }, theme, {
      distance: hasSign ? signWidth / 2 : 0,
      free: following === undefined ? Infinity : xOf(scale, following.time) - signWidth / 2 - left,
    });
  }
}

/** Draws the times in which capacity was reserved, on the bar's lower edge. */
function paintReservations(
  context: CanvasRenderingContext2D,
  { transitions }: Lane,
  { scale, now, theme }: GangsPainting,
): void {
  let since: number | undefined;
  const paint = (until: number): void => {
    if (since === undefined) return;
    const x = Math.max(-20, xOf(scale, since));
    paintReservation(context, x, Math.min(scale.width + 20, xOf(scale, until)), theme);
    since = undefined;
  };
  for (const { kind, time } of transitions) {
    if (kind === 'Reserved') since ??= time;
    else if (kind === 'ReservationEnded') paint(time);
  }
  paint(now);
}

function paintSigns(context: CanvasRenderingContext2D, { transitions }: Lane, { scale, theme }: GangsPainting): void {
  context.font = barFont;
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  let last = -Infinity;
  for (const { kind, time, until = time } of transitions) {
    const sign = signs[kind];
    if (sign === undefined) continue;
    const [from, to] = [xOf(scale, time), xOf(scale, until)];
    if (to < 0 || from > scale.width) continue;
    context.fillStyle = theme.mark;
    if (to - from > signGap) {
      // A run: its first and its last, and a line between them.
      context.fillRect(from, barHeight / 2 - 0.5, to - from, 1);
    }
    for (const x of to - from > signGap ? [from, to] : [from]) {
      if (x - last < signGap) continue;
      last = x;
      context.fillStyle = theme.background;
      context.fillRect(x - signWidth / 2, 1, signWidth, barHeight - 2);
      context.fillStyle = theme.mark;
      context.fillText(sign, x, barHeight / 2 + 0.5);
    }
  }
  context.textAlign = 'start';
}

/** Draws what is behind the bars: the lines of the axis, and what is not recorded. */
function paintGrid(context: CanvasRenderingContext2D, { layout, scale, heldSince, theme }: GangsPainting): void {
  const { nameWidth, width, height } = layout;
  context.fillStyle = theme.line;
  const heldX = Math.min(xOf(scale, heldSince), scale.width);
  if (heldX > 0) {
    context.globalAlpha = 0.5;
    context.fillRect(nameWidth, axisHeight, Math.min(heldX, width), height);
    context.globalAlpha = 1;
  }
  for (const { time } of ticksOf(scale)) context.fillRect(nameWidth + xOf(scale, time), axisHeight - 5, 1, height);
}

/** Draws what is above the bars: the labels of the axis, and now. */
function paintTimes(context: CanvasRenderingContext2D, { layout, scale, heldSince, now, theme }: GangsPainting): void {
  const { nameWidth, width, height } = layout;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, axisHeight - 5);
  context.save();
  context.beginPath();
  context.rect(nameWidth, 0, width - nameWidth, height);
  context.clip();
  context.translate(nameWidth, 0);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = theme.muted;
  const nowX = xOf(scale, now);
  const labelY = axisHeight / 2 - 2;
  for (const { time, label } of ticksOf(scale)) {
    const x = xOf(scale, time);
    if (x + 50 < nowX - 30 || x > nowX) context.fillText(label, x + 3, labelY);
  }
  const heldX = Math.min(xOf(scale, heldSince), scale.width);
  if (heldX > 90) context.fillText('not recorded', heldX - 80, height - 10);
  context.fillStyle = theme.now;
  context.fillRect(nowX - 1, axisHeight - 5, 2, height);
  context.textAlign = 'right';
  context.fillText('now', nowX - 4, labelY);
  context.restore();
}
