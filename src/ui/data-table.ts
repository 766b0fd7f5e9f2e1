import { button, element, setText } from './element.ts';
import { keptInPlace } from './kept-in-place.ts';

/** A column of a table. The first one names the row. */
export interface DataColumn<T> {
  readonly header: string;
  readonly text: (row: T) => string;
}

export interface DataTableOptions<T> {
  readonly caption: string;
  readonly columns: readonly DataColumn<T>[];
  readonly keyOf: (row: T) => string;
  readonly classOf: (row: T) => string;
  readonly onOpen: (key: string) => void;
}

interface ShownRow {
  readonly row: HTMLTableRowElement;
  readonly cells: readonly Node[];
}

/** As many rows as a slow machine adds and lays out in a frame. */
const newRowsPerFrame = 50;

/**
 * A table that changes only the cells whose text differs, so that focus and reading position stay. Many new rows come over several frames, the first ones at
 * once.
 */
export class DataTable<T> {
  readonly root: HTMLTableElement;
  readonly #options: DataTableOptions<T>;
  readonly #body: HTMLTableSectionElement;
  /** key of a row -> its elements */
  readonly #shown = new Map<string, ShownRow>();
  #rows: readonly T[] = [];
  /** The rows were shown before, but may have other texts now. */
  #isOutdated = false;
  #isScheduled = false;

  constructor(options: DataTableOptions<T>) {
    this.#options = options;
    const headers = options.columns.map(({ header }) => element('th', { scope: 'col' }, header));
    this.#body = element('tbody');
    this.root = element(
      'table',
      {},
      element('caption', {}, options.caption),
      element('thead', {}, element('tr', {}, ...headers)),
      this.#body,
    );
  }

  show(rows: readonly T[]): void {
    this.#rows = rows;
    this.#isOutdated = true;
    const gone = new Set(this.#shown.keys());
    for (const row of rows) gone.delete(this.#options.keyOf(row));
    for (const key of gone) {
      this.#shown.get(key)!.row.remove();
      this.#shown.delete(key);
    }
    // The scheduled frame goes on with these rows.
    if (!this.#isScheduled) this.#fill();
  }

  #fill(): void {
    const { keyOf, classOf, columns } = this.#options;
    const missing = this.#rows.filter((row) => !this.#shown.has(keyOf(row)));
    const added = new Set(missing.slice(0, newRowsPerFrame));
    for (const row of added) this.#shown.set(keyOf(row), this.#create(keyOf(row)));
    const shown: HTMLTableRowElement[] = [];
    for (const row of this.#rows) {
      const elements = this.#shown.get(keyOf(row));
      if (elements === undefined) continue;
      shown.push(elements.row);
      if (!this.#isOutdated && !added.has(row)) continue;
      columns.forEach(({ text }, index) => setText(elements.cells[index]!, text(row)));
      const style = classOf(row);
      if (elements.row.className !== style) elements.row.className = style;
    }
    this.#isOutdated = false;
    this.#arrange(shown);
    if (missing.length > newRowsPerFrame) this.#fillSoon();
  }

  /** Brings the rows into order. Each that moves is laid out again, and loses the focus for a moment. */
  #arrange(rows: readonly HTMLTableRowElement[]): void {
    const focused = document.activeElement;
    const positions = new Map([...this.#body.children].map((row, position) => [row, position]));
    const kept = keptInPlace(rows.map((row) => positions.get(row) ?? -1));
    let next: HTMLTableRowElement | null = null;
    for (let index = rows.length - 1; index >= 0; index--) {
      const row = rows[index]!;
      if (!kept.has(index)) this.#body.insertBefore(row, next);
      next = row;
    }
    if (focused instanceof HTMLElement && this.#body.contains(focused)) focused.focus({ preventScroll: true });
  }

  #fillSoon(): void {
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#fill();
    });
  }

  #create(key: string): ShownRow {
    const { columns, onOpen } = this.#options;
    const name = button('', () => onOpen(key));
    const others = columns.slice(1).map(() => element('td'));
    return { row: element('tr', {}, element('th', { scope: 'row' }, name), ...others), cells: [name, ...others] };
  }
}
