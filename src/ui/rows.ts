import type { Theme } from './theme.ts';

export const rowHeight = 22;
export const barHeight = 15;
/** The labels above the rows. They stay when the rows scroll. */
export const axisHeight = 24;

/** Which rows of a list are visible, and where. All lengths are in CSS pixels. */
export interface RowsLayout {
  readonly width: number;
  readonly height: number;
  /** The column of names. */
  readonly nameWidth: number;
  readonly scrollTop: number;
  readonly first: number;
  /** Visible rows, those that are cut off included. */
  readonly count: number;
}

/** Returns the layout of a viewport that has been scrolled. */
export function rowsLayout(width: number, height: number, scrollTop: number): RowsLayout {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight));
  return {
    width,
    height,
    nameWidth: Math.round(Math.min(240, Math.max(96, width * 0.3))),
    scrollTop,
    first,
    count: Math.ceil(Math.max(0, height - axisHeight) / rowHeight) + 1,
  };
}

export function rowTop({ scrollTop }: Pick<RowsLayout, 'scrollTop'>, row: number): number {
  return axisHeight + row * rowHeight - scrollTop;
}

/** Returns the row at a height in the viewport; undefined: the axis. */
export function rowAt({ scrollTop }: Pick<RowsLayout, 'scrollTop'>, y: number): number | undefined {
  return y < axisHeight ? undefined : Math.floor((y - axisHeight + scrollTop) / rowHeight);
}

/** Returns where to scroll so that the row is visible: as little as possible. */
export function scrolledTo({ scrollTop, height }: Pick<RowsLayout, 'scrollTop' | 'height'>, row: number): number {
  const top = row * rowHeight;
  const bottom = top + rowHeight - (height - axisHeight);
  return Math.max(0, Math.min(top, Math.max(bottom, scrollTop)));
}

export interface RowName {
  readonly name: string;
  /** At the right end of the column. */
  readonly detail: string;
  readonly isSelected: boolean;
  /** A row that needs attention. */
  readonly isAlarming: boolean;
}

/** Draws the name of a row. A long one loses its beginning: names of one namespace differ at their end. */
export function paintName(
  context: CanvasRenderingContext2D,
  layout: RowsLayout,
  row: number,
  theme: Theme,
  { name, detail, isSelected, isAlarming }: RowName,
): void {
  const { nameWidth } = layout;
  const top = rowTop(layout, row);
  const middle = top + rowHeight / 2;
  if (isAlarming) {
    context.globalAlpha = 0.25;
    context.fillStyle = theme.states.Partial;
    context.fillRect(0, top, nameWidth, rowHeight);
    context.globalAlpha = 1;
  }
  context.textBaseline = 'middle';
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = isAlarming ? theme.text : theme.muted;
  const detailWidth = detail === '' ? 0 : context.measureText(detail).width + 8;
  context.fillText(detail, nameWidth - detailWidth, middle);
  context.fillStyle = theme.text;
  context.font = `${isAlarming ? 'bold ' : ''}12px system-ui, sans-serif`;
  context.fillText(shortened(context, name, nameWidth - detailWidth - 14), 6, middle);
  if (isSelected) context.fillRect(0, top, 3, rowHeight);
}

export function shortened(context: Pick<CanvasRenderingContext2D, 'measureText'>, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (context.measureText(`…${text.slice(middle)}`).width <= width) high = middle;
    else low = middle + 1;
  }
  return `…${text.slice(low)}`;
}
