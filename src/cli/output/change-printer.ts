import { safeText } from '../../base/safe-text.ts';
import type { CommandContext } from '../command-context.ts';
import { usesColor } from './color.ts';
import type { PrintOptions } from './print.ts';
import { serialize } from './serialize.ts';
import { tableLines, tableWidths } from './table.ts';
import type { TableColumn } from './table.ts';

export interface ChangePrinterOptions<Change, Row> extends PrintOptions {
  /** Called for each output, because columns can show ages. */
  readonly columns: (isWide: boolean) => readonly TableColumn<Row>[];
  /** Rows of the table: one, or none. */
  readonly rowsOf: (change: Change) => readonly Row[];
  /** Of `-o name`. */
  readonly nameOf: (change: Change) => string;
}

/** Prints changes as they happen: a row, or an object, each. Columns align with the rows before. */
export class ChangePrinter<Change extends object, Row> {
  readonly #options: ChangePrinterOptions<Change, Row>;
  readonly #context: Pick<CommandContext, 'stdout' | 'environment'>;
  #widths: readonly number[] | undefined;
  #hasPrinted = false;

  constructor(options: ChangePrinterOptions<Change, Row>, context: Pick<CommandContext, 'stdout' | 'environment'>) {
    this.#options = options;
    this.#context = context;
  }

  print(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    this.#context.stdout.write(this.#textOf(changes));
    this.#hasPrinted = true;
  }

  #textOf(changes: readonly Change[]): string {
    const { output, rowsOf, nameOf } = this.#options;
    switch (output) {
      case 'json':
        return changes.map((change) => serialize(change, 'json')).join('');
      case 'yaml': {
        const documents = changes.map((change) => serialize(change, 'yaml')).join('---\n');
        return this.#hasPrinted ? `---\n${documents}` : documents;
      }
      case 'name':
        return changes.map((change) => `${safeText(nameOf(change))}\n`).join('');
      case 'table':
      case 'wide':
        return this.#linesOf(changes.flatMap(rowsOf), output === 'wide')
          .map((line) => `${line}\n`)
          .join('');
    }
  }

  #linesOf(rows: readonly Row[], isWide: boolean): readonly string[] {
    const { color, headers, columns } = this.#options;
    const { stdout, environment } = this.#context;
    const shown = columns(isWide);
    this.#widths = tableWidths(shown, rows, this.#widths);
    return tableLines(shown, rows, {
      hasHeaders: headers && !this.#hasPrinted,
      hasColors: usesColor(color, stdout, environment),
      width: isWide || stdout.isTTY !== true ? undefined : stdout.columns,
      minWidths: this.#widths,
    });
  }
}
