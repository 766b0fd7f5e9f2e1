import { button, element, setText } from './element.ts';

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

/** A table that changes only the cells whose text differs, so that focus and reading position stay. */
export class DataTable<T> {
  readonly root: HTMLTableElement;
  readonly #options: DataTableOptions<T>;
  readonly #body: HTMLTableSectionElement;
  /** key of a row -> its elements */
  readonly #shown = new Map<string, ShownRow>();

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
    const { keyOf, classOf, columns } = this.#options;
    const gone = new Set(this.#shown.keys());
    let next = this.#body.firstElementChild;
    for (const row of rows) {
      const key = keyOf(row);
      gone.delete(key);
      let shown = this.#shown.get(key);
      if (shown === undefined) this.#shown.set(key, (shown = this.#create(key)));
      columns.forEach(({ text }, index) => setText(shown.cells[index]!, text(row)));
      const style = classOf(row);
      if (shown.row.className !== style) shown.row.className = style;
      if (shown.row === next) next = next.nextElementSibling;
      else this.#body.insertBefore(shown.row, next);
    }
    for (const key of gone) {
      this.#shown.get(key)!.row.remove();
      this.#shown.delete(key);
    }
  }

  #create(key: string): ShownRow {
    const { columns, onOpen } = this.#options;
    const name = button('', () => onOpen(key));
    const others = columns.slice(1).map(() => element('td'));
    return { row: element('tr', {}, element('th', { scope: 'row' }, name), ...others), cells: [name, ...others] };
  }
}
