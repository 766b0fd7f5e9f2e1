import type { TimelineState } from '../api/timeline/timeline-state.ts';
import { barHeight } from './rows.ts';
import { stateStyles } from './state-style.ts';
import type { Fill } from './state-style.ts';
import { inkOn } from './theme.ts';
import type { Theme } from './theme.ts';

/** A rectangle in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where the letter of a bar may be, in CSS pixels from the start of the bar. */
export interface LetterSpace {
  readonly distance: number;
  readonly free: number;
}

/** Narrower bars have no letter. */
const letterWidth = 12;
export const barFont = 'bold 11px system-ui, sans-serif';

/** Draws the bar of a state: color, pattern and, where there is space for it up to `free`, the letter, at a distance from the start. */
export function paintBar(
  context: CanvasRenderingContext2D,
  state: TimelineState,
  box: Box,
  theme: Theme,
  { distance, free }: LetterSpace = { distance: 0, free: box.width },
): void {
  const { fill, letter } = stateStyles[state];
  const color = theme.states[state];
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  const ink = paintFill(context, fill, color, box, theme);
  context.restore();
  if (Math.min(box.width, free) < letterWidth + distance || letter === '') return;
  context.font = barFont;
  context.textBaseline = 'middle';
  const middle = box.y + box.height / 2 + 0.5;
  const start = Math.max(box.x + distance, 0) + 3;
  if (fill === 'dots' || fill === 'diagonal' || fill === 'stripes' || fill === 'cross' || fill === 'question') {
    // A pattern would make it hard to read.
    context.fillStyle = theme.background;
    context.fillRect(start - 2, box.y + 1, context.measureText(letter).width + 4, box.height - 2);
  }
  context.fillStyle = ink;
  context.fillText(letter, start, middle);
}

/** Fills the box, which is also the clip, and returns the color of its letter. */
function paintFill(context: CanvasRenderingContext2D, fill: Fill, color: string, box: Box, theme: Theme): string {
  const { x, y, width, height } = box;
  context.fillStyle = color;
  context.strokeStyle = color;
  switch (fill) {
    case 'solid':
      context.fillRect(x, y, width, height);
      return inkOn(color);
    case 'light':
      context.globalAlpha = 0.35;
      context.fillRect(x, y, width, height);
      return theme.text;
    case 'narrow':
      context.fillRect(x, y + height * 0.1, width, height * 0.8);
      return inkOn(color);
    case 'outline':
      context.lineWidth = 2;
      context.strokeRect(x, y + 1, width, height - 2);
      return theme.text;
    case 'dots':
      dots(context, box);
      return theme.text;
    case 'diagonal':
      context.lineWidth = 4;
      lines(context, box, 8, height);
      border(context, box);
      return theme.text;
    case 'stripes':
      context.globalAlpha = 0.3;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
      context.lineWidth = 3;
      lines(context, box, 7, 0);
      return theme.text;
    case 'cross':
      context.lineWidth = 1.5;
      lines(context, box, 8, height);
      lines(context, box, 8, -height);
      border(context, box);
      return theme.text;
    case 'question':
      context.setLineDash([4, 3]);
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, width - 2, height - 2);
      return theme.text;
  }
}

function border(context: CanvasRenderingContext2D, { x, y, width, height }: Box): void {
  context.lineWidth = 2;
  context.strokeRect(x, y + 1, width, height - 2);
}

/** Strokes parallel lines that lean by `lean`. They stay where they are when the box grows at its end. */
function lines(context: CanvasRenderingContext2D, { x, y, width, height }: Box, gap: number, lean: number): void {
  context.beginPath();
  const margin = Math.abs(lean) + gap;
  for (let at = x - margin; at < x + width + margin; at += gap) {
    context.moveTo(at, y + height);
    context.lineTo(at + lean, y);
  }
  context.stroke();
}

function dots(context: CanvasRenderingContext2D, { x, y, width, height }: Box): void {
  context.beginPath();
  for (let at = x + 2; at < x + width; at += 5) {
    for (let row = y + 3; row < y + height; row += 5) context.rect(at, row, 1.6, 1.6);
  }
  context.fill();
}

/** Draws a dashed line for the time in which capacity was reserved. */
export function paintReservation(context: CanvasRenderingContext2D, from: number, to: number, theme: Theme): void {
  context.save();
  context.strokeStyle = theme.mark;
  context.lineWidth = 3;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(from, barHeight - 1.5);
  context.lineTo(to, barHeight - 1.5);
  context.stroke();
  context.restore();
}

/** Draws hatching for capacity that is reserved: pale lines inside an outline. */
export function paintReserved(context: CanvasRenderingContext2D, color: string, box: Box): void {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.strokeStyle = color;
  context.lineWidth = 1;
  lines(context, box, 5, box.height);
  border(context, box);
  context.restore();
}
