import { rowAt, rowHeight, axisHeight, rowsLayout, scrolledTo } from './rows.ts';
import type { RowsLayout } from './rows.ts';

/** The rows that the view shows. */
export interface RowsContent {
  readonly keys: readonly string[];
  paint(context: CanvasRenderingContext2D, layout: RowsLayout, selected: string | undefined): void;
  /** Returns the text for a row; `x` is that of the pointer, and undefined for a row that is selected by a key. */
  why(key: string, layout: RowsLayout, x?: number): string;
}

export interface RowsViewOptions {
  /** The element that scrolls and has the focus. */
  readonly scroller: HTMLElement;
  /** As high as all rows. */
  readonly rows: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly tooltip: HTMLElement;
  /** Gets the text for the selected row whenever rows are shown; undefined: none of them is selected. */
  readonly onWhy: (why: string | undefined) => void;
  readonly onOpen: (key: string) => void;
}

/** Rows on a canvas of the size of the viewport: only those that are visible are drawn. */
export class RowsView {
  readonly #options: RowsViewOptions;
  #content: RowsContent = { keys: [], paint: () => undefined, why: () => '' };
  #selected: string | undefined;
  #isScheduled = false;

  constructor(options: RowsViewOptions) {
    this.#options = options;
    const { scroller, canvas } = options;
    new ResizeObserver(() => this.paintSoon()).observe(scroller);
    scroller.addEventListener('scroll', () => this.paintSoon(), { passive: true });
    canvas.addEventListener('pointermove', (event) => this.#point(event));
    canvas.addEventListener('pointerleave', () => this.#hideTooltip());
    canvas.addEventListener('click', ({ offsetY }) => {
      const key = this.#keyAt(offsetY);
      if (key === undefined) return;
      this.#hideTooltip();
      this.#select(key);
      options.onOpen(key);
    });
  }

  /** The selection stays with its row, wherever that is now. */
  show(content: RowsContent): void {
    this.#content = content;
    const isSelected = this.#selected !== undefined && content.keys.includes(this.#selected);
    this.#options.onWhy(isSelected ? content.why(this.#selected!, this.#layout()) : undefined);
    const height = `${axisHeight + content.keys.length * rowHeight}px`;
    if (this.#options.rows.style.height !== height) this.#options.rows.style.height = height;
    this.paintSoon();
  }

  /** Paints with the next frame, once however often it is called. */
  paintSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#paint();
    });
  }

  /** Handles the keys that choose a row. Returns whether it did. */
  onKey(key: string): boolean {
    const { keys } = this.#content;
    const row = this.#selected === undefined ? -1 : keys.indexOf(this.#selected);
    const page = Math.max(1, this.#layout().count - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: row + 1,
      ArrowUp: row - 1,
      PageDown: row + page,
      PageUp: row - page,
      Home: 0,
      End: keys.length - 1,
    };
    if (key === 'Enter' && row >= 0) this.#options.onOpen(keys[row]!);
    else if (Object.hasOwn(steps, key) && keys.length > 0) {
      const next = Math.min(keys.length - 1, Math.max(0, steps[key]!));
      this.#select(keys[next]!);
      this.#options.scroller.scrollTop = scrolledTo(this.#layout(), next);
    } else return false;
    return true;
  }

  #select(key: string): void {
    this.#selected = key;
    this.#options.onWhy(this.#content.why(key, this.#layout()));
    this.paintSoon();
  }

  #layout(): RowsLayout {
    const { clientWidth, clientHeight, scrollTop } = this.#options.scroller;
    return rowsLayout(clientWidth, clientHeight, scrollTop);
  }

  #paint(): void {
    const { canvas, scroller } = this.#options;
    const layout = this.#layout();
    const { width, height } = layout;
    if (width === 0 || height === 0) return;
    const ratio = globalThis.devicePixelRatio;
    const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
      canvas.width = pixelWidth;
      canvas.height = pixelHeight;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext('2d', { alpha: false })!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#content.paint(context, { ...layout, scrollTop: scroller.scrollTop }, this.#selected);
  }

  #keyAt(y: number): string | undefined {
    const row = rowAt(this.#layout(), y);
    return row === undefined ? undefined : this.#content.keys[row];
  }

  #point({ offsetX, offsetY, clientX, clientY }: PointerEvent): void {
    const { tooltip } = this.#options;
    const key = this.#keyAt(offsetY);
    if (key === undefined) return this.#hideTooltip();
    tooltip.textContent = this.#content.why(key, this.#layout(), offsetX);
    tooltip.hidden = false;
    const { width, height } = tooltip.getBoundingClientRect();
    tooltip.style.left = `${Math.max(4, Math.min(clientX + 12, innerWidth - width - 4))}px`;
    tooltip.style.top = `${clientY + 18 + height > innerHeight ? clientY - height - 8 : clientY + 18}px`;
  }

  #hideTooltip(): void {
    this.#options.tooltip.hidden = true;
  }
}
