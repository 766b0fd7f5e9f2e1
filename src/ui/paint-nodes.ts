import type { TimelineEntity } from '../api/timeline/timeline-entity.ts';
import type { TimelineNode } from '../api/timeline/timeline-node.ts';
import { paintReserved } from './bar.ts';
import { freeShare, nameByKey } from './describe.ts';
import { axisHeight, barHeight, paintName, rowHeight, rowTop, shortened } from './rows.ts';
import type { RowsLayout } from './rows.ts';
import { inkOn } from './theme.ts';
import type { Theme } from './theme.ts';

export interface NodesPainting {
  readonly nodes: readonly TimelineNode[];
  readonly entities: ReadonlyMap<string, TimelineEntity>;
  readonly layout: RowsLayout;
  readonly selected: string | undefined;
  readonly theme: Theme;
}

/** To the right of the bars, in CSS pixels. */
const margin = 12;

/** A part of a bar, from 0 to 1. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly entity: string | undefined;
  readonly isReserved: boolean;
}

/** Returns the parts of a bar: what is used, then what is reserved. The bar of an over-committed node is scaled down to its space. */
export function partsOf({ shares }: Pick<TimelineNode, 'shares'>): readonly Part[] {
  const used = shares.map(({ entity, used }) => ({ entity, size: used, isReserved: false }));
  const reserved = shares.map(({ entity, reserved }) => ({ entity, size: reserved, isReserved: true }));
  const all = [...used, ...reserved].filter(({ size }) => size > 0);
  const scale =
    1 /
    Math.max(
      1,
      all.reduce((sum, { size }) => sum + size, 0),
    );
  let from = 0;
  return all.map(({ entity, size, isReserved }) => {
    const part = { from, to: from + size * scale, entity, isReserved };
    from = part.to;
    return part;
  });
}

/** Returns an entity's color. Few enough entities share it that neighbors mostly differ; the name is on the bar. */
export function entityColor(theme: Theme, key: string | undefined): string {
  if (key === undefined) return theme.others;
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0;
  return theme.entities[(hash >>> 0) % theme.entities.length]!;
}

export function paintNodes(context: CanvasRenderingContext2D, painting: NodesPainting): void {
  const { nodes, layout, selected, theme } = painting;
  const { width, height, nameWidth, first, count } = layout;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  paintGrid(context, layout, theme);
  for (let row = first; row < Math.min(nodes.length, first + count); row++) {
    const node = nodes[row]!;
    const isSelected = node.name === selected;
    if (isSelected) {
      context.fillStyle = theme.selected;
      context.fillRect(0, rowTop(layout, row), width, rowHeight);
    }
    context.save();
    context.translate(nameWidth, rowTop(layout, row) + (rowHeight - barHeight) / 2);
    paintParts(context, node, painting);
    context.restore();
    paintName(context, layout, row, theme, {
      name: node.name,
      detail: detailOf(node, nameWidth),
      isSelected,
      isAlarming: false,
    });
  }
  paintShares(context, layout, theme);
}

/** A narrow column leaves space for the name; a gray bar shows that the node is not ready. */
function detailOf(node: TimelineNode, width: number): string {
  const isNarrow = width < 160;
  if (node.state !== 'Ready') return isNarrow ? '' : node.state;
  return `${Math.round(freeShare(node) * 100)} %${isNarrow ? '' : ' free'}`;
}

function paintParts(
  context: CanvasRenderingContext2D,
  node: TimelineNode,
  { entities, layout, theme }: NodesPainting,
): void {
  const width = layout.width - layout.nameWidth - margin;
  context.fillStyle = theme.line;
  context.globalAlpha = node.state === 'Ready' ? 0.35 : 1;
  context.fillRect(0, 0, width, barHeight);
  context.globalAlpha = node.state === 'Ready' ? 1 : 0.45;
  context.textBaseline = 'middle';
  context.font = '11px system-ui, sans-serif';
  for (const { from, to, entity, isReserved } of partsOf(node)) {
    const box = { x: from * width, y: 0, width: Math.max(1, (to - from) * width - 1), height: barHeight };
    const color = entityColor(theme, entity);
    if (isReserved) paintReserved(context, color, box);
    else {
      context.fillStyle = color;
      context.fillRect(box.x, box.y, box.width, box.height);
    }
    if (box.width < 36) continue;
    const label = shortened(context, entity === undefined ? 'others' : nameByKey(entities, entity), box.width - 8);
    if (isReserved) {
      context.fillStyle = theme.background;
      context.fillRect(box.x + 2, 2, context.measureText(label).width + 4, barHeight - 4);
    }
    const alpha = context.globalAlpha;
    context.globalAlpha = 1;
    context.fillStyle = isReserved || alpha < 1 ? theme.text : inkOn(color);
    context.fillText(label, box.x + 4, barHeight / 2 + 0.5);
    context.globalAlpha = alpha;
  }
  context.globalAlpha = 1;
}

const gridShares = [0, 0.25, 0.5, 0.75, 1] as const;

function paintGrid(context: CanvasRenderingContext2D, { width, height, nameWidth }: RowsLayout, theme: Theme): void {
  context.fillStyle = theme.line;
  for (const share of gridShares)
    context.fillRect(nameWidth + share * (width - nameWidth - margin), axisHeight - 5, 1, height);
}

function paintShares(context: CanvasRenderingContext2D, { width, nameWidth }: RowsLayout, theme: Theme): void {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, axisHeight - 5);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = theme.muted;
  const isNarrow = width - nameWidth < 320;
  for (const share of gridShares.filter((each) => !isNarrow || (each * 2) % 1 === 0)) {
    const x = nameWidth + share * (width - nameWidth - margin);
    context.textAlign = share === 1 ? 'right' : 'start';
    context.fillText(`${share * 100} %`, share === 1 ? x - 2 : x + 3, axisHeight / 2 - 2);
  }
  context.textAlign = 'start';
}
