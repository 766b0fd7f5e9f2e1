import type { Transition } from '../api/timeline/transition.ts';
import { barFont, paintBar, paintReserved } from './bar.ts';
import { countsText } from './describe.ts';
import { segmentsOf } from './lane.ts';
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

/** Draws the visible lanes, the axis and the line of now. */
export function paintGangs(context: CanvasRenderingContext2D, painting: GangsPainting): void {
  const { lanes, layout, scale, heldSince, now, selected, theme } = painting;
  const { nameWidth, width, height, first, count } = layout;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  for (let row = first; row < Math.min(lanes.length, first + count); row++) {
    const lane = lanes[row]!;
    const top = rowTop(layout, row);
    const isSelected = lane.entity.key === selected;
    if (isSelected) {
      context.fillStyle = theme.selected;
      context.fillRect(0, top, width, rowHeight);
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
    const isPartial = lane.entity.state === 'Partial';
    paintName(context, layout, row, theme, {
      name: lane.name,
      detail: countsText(lane.entity),
      isSelected,
      isStrong: isPartial,
    });
  }
  paintTimes(context, layout, scale, heldSince, now, theme);
}

function paintSegments(
  context: CanvasRenderingContext2D,
  lane: Lane,
  { scale, heldSince, now, theme }: GangsPainting,
): void {
  for (const { start, end, state } of segmentsOf(lane, heldSince, now)) {
    const left = Math.max(xOf(scale, start), -20);
    const right = Math.min(xOf(scale, end), scale.width + 20);
    if (right < 0 || left > scale.width) continue;
    // Short states are seen, too: above all a partial one.
    paintBar(context, state, { x: left, y: 0, width: Math.max(right - left, 2), height: barHeight }, theme);
  }
}

/** Draws the times in which capacity was reserved, below the bar's lower edge. */
function paintReservations(
  context: CanvasRenderingContext2D,
  { transitions }: Lane,
  { scale, now, theme }: GangsPainting,
): void {
  let since: number | undefined;
  const paint = (until: number): void => {
    if (since === undefined) return;
    const x = Math.max(-20, xOf(scale, since));
    const width = Math.min(scale.width + 20, xOf(scale, until)) - x;
    if (width > 0) paintReserved(context, theme.text, { x, y: barHeight - 4, width, height: 4 });
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
      context.fillRect(x - 4, 1, 8, barHeight - 2);
      context.fillStyle = theme.mark;
      context.fillText(sign, x, barHeight / 2 + 0.5);
    }
  }
  context.textAlign = 'start';
}

/** Draws the axis, what is not recorded, and now. */
function paintTimes(
  context: CanvasRenderingContext2D,
  { nameWidth, width, height }: RowsLayout,
  scale: TimeScale,
  heldSince: number,
  now: number,
  theme: Theme,
): void {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, axisHeight);
  context.save();
  context.beginPath();
  context.rect(nameWidth, 0, width - nameWidth, height);
  context.clip();
  context.translate(nameWidth, 0);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const nowX = xOf(scale, now);
  for (const { time, label } of ticksOf(scale)) {
    const x = xOf(scale, time);
    context.fillStyle = theme.line;
    context.fillRect(x, axisHeight - 5, 1, height);
    context.fillStyle = theme.muted;
    if (nowX < 0 || Math.abs(x - nowX) > 60) context.fillText(label, x + 3, axisHeight / 2);
  }
  const heldX = xOf(scale, heldSince);
  if (heldX > 0) {
    context.globalAlpha = 0.5;
    context.fillStyle = theme.line;
    context.fillRect(0, axisHeight, Math.min(heldX, scale.width), height);
    context.globalAlpha = 1;
    context.fillStyle = theme.muted;
    if (heldX > 90) context.fillText('not recorded', Math.min(heldX, scale.width) - 80, axisHeight + 10);
  }
  context.fillStyle = theme.now;
  context.fillRect(nowX - 1, axisHeight - 5, 2, height);
  context.textAlign = 'right';
  context.fillText('now', nowX - 4, axisHeight / 2);
  context.textAlign = 'start';
  context.restore();
}
