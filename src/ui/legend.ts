import { timelineStates } from '../api/timeline/timeline-state.ts';
import { barFont, paintBar, paintReservation, paintReserved } from './bar.ts';
import { element } from './element.ts';
import { barHeight } from './rows.ts';
import { stateStyles } from './state-style.ts';
import type { Theme } from './theme.ts';

const width = 30;

/** Shows what bars and signs mean. */
export function showLegend(root: HTMLElement, view: 'gangs' | 'nodes', theme: Theme): void {
  root.replaceChildren(...(view === 'gangs' ? gangItems(theme) : nodeItems(theme)));
}

function gangItems(theme: Theme): readonly HTMLElement[] {
  const states = timelineStates
    .filter((state) => state !== 'Gone')
    .map((state) =>
      item(stateStyles[state].name, theme, (context) => {
        paintBar(context, state, { x: 0, y: 0, width, height: barHeight }, theme);
      }),
    );
  const signs = [
    ['!', 'no nodes found'],
    ['↩', 'binding taken back'],
    ['▼', 'preempted or released'],
    ['×', 'member lost'],
    ['+', 'repaired'],
  ].map(([sign, text]) =>
    item(text!, theme, (context) => {
      context.font = barFont;
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.fillStyle = theme.mark;
      context.fillText(sign!, width / 2, barHeight / 2);
    }),
  );
  const reserved = item('capacity reserved', theme, (context) => paintReservation(context, 0, width, theme));
  return [...states, ...signs, reserved];
}

function nodeItems(theme: Theme): readonly HTMLElement[] {
  const color = theme.entities[0]!;
  const box = { x: 0, y: 0, width, height: barHeight };
  return [
    item('used, one color for each group or pod', theme, (context) => {
      context.fillStyle = color;
      context.fillRect(0, 0, width, barHeight);
    }),
    item('reserved', theme, (context) => paintReserved(context, color, box)),
    item('free', theme, (context) => {
      context.globalAlpha = 0.35;
      context.fillStyle = theme.line;
      context.fillRect(0, 0, width, barHeight);
    }),
    item('cordoned or not ready', theme, (context) => {
      context.fillStyle = theme.line;
      context.fillRect(0, 0, width, barHeight);
    }),
  ];
}

function item(text: string, theme: Theme, paint: (context: CanvasRenderingContext2D) => void): HTMLElement {
  const ratio = globalThis.devicePixelRatio;
  const canvas = element('canvas', {
    'aria-hidden': 'true',
    width: String(width * ratio),
    height: String(barHeight * ratio),
  });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${barHeight}px`;
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, barHeight);
  paint(context);
  return element('li', {}, canvas, text);
}
