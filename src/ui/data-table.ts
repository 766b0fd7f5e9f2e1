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

/** As many rows as a slow machine lays out and paints in a frame. */
const rowsPerPage = 200;

/**
 * A table that shows one page of its rows, so that a frame takes the same time however many there are. It changes only the cells whose text differs, so that
 * focus and reading position stay.
 */
export class DataTable<T> {
  readonly root: HTMLElement;
  readonly #options: DataTableOptions<T>;
  readonly #body = element('tbody');
  readonly #position = element('span');
  readonly #previous = button('Previous rows', () => this.#turn(-1));
  readonly #next = button('Next rows', () => this.#turn(1));
  readonly #pages = element('div', { class: 'pages' }, this.#position, this.#previous, this.#next);
  /** key of a row on the page -> its elements */
  readonly #shown = new Map<string, ShownRow>();
  #rows: readonly T[] = [];
  #page = 0;

  constructor(options: DataTableOptions<T>) {
    this.#options = options;
    const headers = options.columns.map(({ header }) => element('th', { scope: 'col' }, header));
    const table = element(
      'table',
      {},
      element('caption', {}, options.caption),
      element('thead', {}, element('tr', {}, ...headers)),
      this.#body,
    );
    this.root = element('div', {}, table, this.#pages);
  }

  show(rows: readonly T[]): void {
    this.#rows = rows;
    const last = Math.max(0, Math.ceil(rows.length / rowsPerPage) - 1);
    this.#page = Math.min(Math.max(0, this.#page), last);
    const start = this.#page * rowsPerPage;
    const visible = rows.slice(start, start + rowsPerPage);
    this.#showRows(visible);
    this.#pages.hidden = last === 0;
    setText(this.#position, `Rows ${start + 1} to ${start + visible.length} of ${rows.length}`);
    // A disabled button would lose the focus.
    this.#previous.setAttribute('aria-disabled', String(this.#page === 0));
    this.#next.setAttribute('aria-disabled', String(this.#page === last));
  }

  #turn(pages: number): void {
    this.#page += pages;
    this.show(this.#rows);
    this.root.scrollIntoView({ block: 'start' });
  }

  #showRows(rows: readonly T[]): void {
    const { keyOf, classOf, columns } = this.#options;
    const gone = new Set(this.#shown.keys());
    for (const row of rows) gone.delete(keyOf(row));
    for (const key of gone) {
      this.#shown.get(key)!.row.remove();
      this.#shown.delete(key);
    }
    const elements = rows.map((row) => {
      const key = keyOf(row);
      const known = this.#shown.get(key) ?? this.#create(key);
      this.#shown.set(key, known);
      columns.forEach(({ text }, index) => setText(known.cells[index]!, text(row)));
      const style = classOf(row);
      if (known.row.className !== style) known.row.className = style;
      return known.row;
    });
    this.#arrange(elements);
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

  #create(key: string): ShownRow {
    const { columns, onOpen } = this.#options;
    const name = button('', () => onOpen(key));
    const others = columns.slice(1).map(() => element('td'));
    return { row: element('tr', {}, element('th', { scope: 'row' }, name), ...others), cells: [name, ...others] };
  }
}
