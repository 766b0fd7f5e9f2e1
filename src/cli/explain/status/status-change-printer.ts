import type { StatusChange } from '../../../api/explain/lists.ts';
import { safeText } from '../../../base/safe-text.ts';
import type { CommandContext } from '../../command-context.ts';
import { usesColor } from '../../output/color.ts';
import type { PrintOptions } from '../../output/print.ts';
import { serialize } from '../../output/serialize.ts';
import { tableLines, tableWidths } from '../../output/table.ts';
import { subjectName } from '../subject-argument.ts';
import { statusColumns } from './print-status.ts';
import type { StatusRow } from './print-status.ts';

export interface StatusChangePrinterOptions extends PrintOptions {
  readonly showsNamespace: boolean;
  readonly showsPods: boolean;
}

/** Prints changes as they happen: a row, or an object, each. Columns align with the rows before. */
export class StatusChangePrinter {
  readonly #options: StatusChangePrinterOptions;
  readonly #context: Pick<CommandContext, 'stdout' | 'environment' | 'clock'>;
  #widths: readonly number[] | undefined;
  #hasPrinted = false;

  constructor(options: StatusChangePrinterOptions, context: Pick<CommandContext, 'stdout' | 'environment' | 'clock'>) {
    this.#options = options;
    this.#context = context;
  }

  print(changes: readonly StatusChange[]): void {
    if (changes.length > 0) this.#context.stdout.write(this.#textOf(changes));
    this.#hasPrinted ||= changes.length > 0;
  }

  #textOf(changes: readonly StatusChange[]): string {
    const { output } = this.#options;
    switch (output) {
      case 'json':
        return changes.map((change) => serialize(change, 'json')).join('');
      case 'yaml': {
        const documents = changes.map((change) => serialize(change, 'yaml')).join('---\n');
        return this.#hasPrinted ? `---\n${documents}` : documents;
      }
      case 'name':
        return changes.map(({ item }) => `${safeText(subjectName(item.subject))}\n`).join('');
      case 'table':
      case 'wide':
        return this.#linesOf(changes.map(rowOf), output === 'wide')
          .map((line) => `${line}\n`)
          .join('');
    }
  }

  #linesOf(rows: readonly StatusRow[], isWide: boolean): readonly string[] {
    const { color, headers, showsNamespace, showsPods } = this.#options;
    const { stdout, environment, clock } = this.#context;
    const columns = statusColumns({ showsNamespace, entity: showsPods ? 'ENTITY' : 'GROUP', now: clock.now() });
    const shown = columns[isWide ? 'wide' : 'normal'];
    this.#widths = tableWidths(shown, rows, this.#widths);
    return tableLines(shown, rows, {
      hasHeaders: headers && !this.#hasPrinted,
      hasColors: usesColor(color, stdout, environment),
      width: isWide || stdout.isTTY !== true ? undefined : stdout.columns,
      minWidths: this.#widths,
    });
  }
}

function rowOf({ type, item }: StatusChange): StatusRow {
  if (type !== 'Deleted') return item;
  const { waitsFor: _, since: __, ...rest } = item;
  return { ...rest, state: 'Deleted', message: '' };
}
