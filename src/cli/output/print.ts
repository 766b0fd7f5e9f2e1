import { safeText } from '../../base/safe-text.ts';
import type { CommandContext } from '../command-context.ts';
import { usesColor } from './color.ts';
import type { ColorMode } from './color.ts';
import { serialize } from './serialize.ts';
import type { OutputFormat } from './serialize.ts';
import { tableLines } from './table.ts';
import type { TableColumn } from './table.ts';

/** How a command prints its answer. */
export interface PrintOptions {
  readonly output: OutputFormat;
  readonly color: ColorMode;
  readonly headers: boolean;
}

/** The forms of an answer that is a list. */
export interface PrintedList<Item> {
  /** For JSON and YAML. */
  readonly object: { readonly items: readonly Item[] };
  readonly columns: readonly TableColumn<Item>[];
  /** Replaces `columns` in a wide table, in which no text is cut. */
  readonly wideColumns?: readonly TableColumn<Item>[];
  /** Of `-o name`: `podgroup.scheduling.x-k8s.io/red`. */
  readonly name: (item: Item) => string;
  /** Lines below the table, unless the user wants no headers. */
  readonly footer?: readonly string[];
}

/** Prints a list to standard output in the format that the user has chosen. */
export function printList<Item>(
  { object, columns, wideColumns = columns, name, footer = [] }: PrintedList<Item>,
  { output, color, headers: hasHeaders }: PrintOptions,
  { stdout, environment }: Pick<CommandContext, 'stdout' | 'environment'>,
): void {
  switch (output) {
    case 'json':
    case 'yaml':
      stdout.write(serialize(object, output));
      return;
    case 'name':
      stdout.write(object.items.map((item) => `${safeText(name(item))}\n`).join(''));
      return;
    case 'table':
    case 'wide': {
      const hasColors = usesColor(color, stdout, environment);
      const isWide = output === 'wide';
      const width = isWide || stdout.isTTY !== true ? undefined : stdout.columns;
      const options = { hasHeaders, hasColors, width };
      const table = object.items.length === 0 ? [] : tableLines(isWide ? wideColumns : columns, object.items, options);
      const lines = [...table, ...(hasHeaders ? footer.map(safeText) : [])];
      stdout.write(lines.map((line) => `${line}\n`).join(''));
    }
  }
}

/** Tells the user something beside the answer: one sentence on standard error, so that it never mixes with the answer. */
export function printNote(sentence: string, { stderr }: Pick<CommandContext, 'stderr'>): void {
  stderr.write(`${safeText(sentence)}\n`);
}
