import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Pair, YAMLError, YAMLMap } from 'yaml';
import type { FieldPath } from '../plugins/field-path.ts';

/** Says something about a field; `at` is the field whose line is meant where that is another. */
export type ReportRemark = (path: FieldPath, text: string, at?: FieldPath) => void;

/** A place in a file, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Enough for thousands of profiles. */
const mostCharacters = 4_000_000;
/** How many copies of anchored values may be made, so that a few lines cannot ask for billions. */
const mostAliases = 100;
const mostErrors = 10;
const mostBrackets = 200;
/** Only marks of documents, and comments. */
const nothingMore = /^(?:(?:---|\.\.\.)?[ \t]*(?:#.*)?(?:\r?\n|$))*$/;
/** YAML 1.1, which kube-scheduler reads, takes such a number for an octal one. */
const leadingZero = /^[-+]?0\d/;

/** A file of YAML, or of JSON, which is YAML: its value, and where in the text each field is. */
export class ConfigurationDocument {
  /** What JSON could hold; undefined when the text cannot be read, which has then been reported. */
  readonly value: unknown;
  readonly #document: Document | undefined;
  readonly #lines = new LineCounter();
  /** mapping -> key -> the pair that has it */
  readonly #pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();
  /** Where the text cannot be read: offset in it, and why. */
  readonly #unreadable: { readonly offset: number; readonly text: string }[] = [];
  /** What is wrong with single keys and values. */
  readonly #wrong: { readonly path: FieldPath; readonly offset: number; readonly text: string }[] = [];

  /** Never throws, whatever the text is. */
  constructor(text: string) {
    if (text.length > mostCharacters) {
      this.#fail(0, `is larger than a configuration can be: ${text.length} characters, at most ${mostCharacters}`);
      return;
    }
    if (isNestedTooDeeply(text)) {
      this.#fail(0, 'is nested too deeply');
      return;
    }
    try {
      // The library's own search for keys that are given twice takes minutes for a mapping of a megabyte.
      const options = { uniqueKeys: false, prettyErrors: false, merge: true, logLevel: 'error' } as const;
      this.#document = parseDocument(text, { ...options, lineCounter: this.#lines });
      this.#readErrors(this.#document, text);
      if (this.#unreadable.length === 0) this.value = this.#document.toJS({ maxAliasCount: mostAliases });
    } catch (error) {
      // Text that is nested deeper than the stack, an alias without its anchor, or too many of them.
      this.#fail(0, wording((error as Error).message));
    }
  }

  get isReadable(): boolean {
    return this.#unreadable.length === 0;
  }

  /** Tells all that is wrong with the text itself; `place` of what has no field. */
  reportErrors(report: (path: FieldPath, text: string, place: Position) => void): void {
    for (const { offset, text } of this.#unreadable) report([], text, this.#placeOf(offset));
    for (const { path, offset, text } of this.#wrong) report(path, text, this.#placeOf(offset));
  }

  /** Where the field begins, or the deepest field around it that there is. */
  positionOf(path: FieldPath): Position {
    let node: unknown = this.#document?.contents;
    let offset = rangeStart(node) ?? 0;
    for (const segment of path) {
      if (isAlias(node)) node = node.resolve(this.#document!);
      if (isMap(node)) {
        const pair = this.#pairsOf(node).get(String(segment));
        if (pair === undefined) break;
        offset = rangeStart(pair.key) ?? offset;
        node = pair.value;
      } else if (isSeq(node) && typeof segment === 'number') {
        node = node.items[segment];
        offset = rangeStart(node) ?? offset;
      } else {
        break;
      }
    }
    return this.#placeOf(offset);
  }

  #readErrors(document: Document, text: string): void {
    for (const error of [...document.errors, ...document.warnings]) {
      // Templates like to leave a last `---`.
      if (error.code === 'MULTIPLE_DOCS' && nothingMore.test(text.slice(error.pos[0]))) continue;
      this.#fail(error.pos[0], wording(error.message, error.code));
    }
    if (this.isReadable) this.#lookThrough(document);
  }

  #lookThrough(document: Document): void {
    visit(document, {
      Map: (_, map, ancestors) => this.#findKeysGivenTwice(map, ancestors),
      Scalar: (_, scalar, ancestors) => {
        const { value, source = '' } = scalar;
        if (typeof value !== 'number' || !leadingZero.test(source)) return;
        const text = `must not begin with 0, not ${source}: kube-scheduler would read it as an octal number`;
        this.#wrong.push({ path: pathOf([...ancestors, scalar]), offset: rangeStart(scalar) ?? 0, text });
      },
    });
  }

  /** The second of two keys that are the same, and every further one. A merge may be given more than once. */
  #findKeysGivenTwice(map: YAMLMap, ancestors: readonly unknown[]): void {
    /** key -> the first pair that has it */
    const firsts = new Map<string, Pair>();
    for (const pair of map.items) {
      const key = keyOf(pair);
      const first = firsts.get(key);
      if (first === undefined) {
        firsts.set(key, pair);
      } else if (key !== '<<') {
        const { line } = this.#placeOf(rangeStart(first.key) ?? 0);
        const path = [...pathOf([...ancestors, map]), key];
        this.#wrong.push({
          path,
          offset: rangeStart(pair.key) ?? 0,
          text: `is given twice; the first is on line ${line}`,
        });
      }
    }
  }

  #fail(offset: number, text: string): void {
    // One mistake may be found in a hundred places after it.
    const isReported = this.#unreadable.some((other) => other.text === text) || this.#unreadable.length >= mostErrors;
    if (!isReported) this.#unreadable.push({ offset, text });
  }

  #placeOf(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return line === 0 ? { line: 1, column: 1 } : { line, column: col };
  }

  #pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    let pairs = this.#pairs.get(map);
    if (pairs === undefined) {
      // Of two with one key the first is shown.
      pairs = new Map(map.items.toReversed().map((pair) => [keyOf(pair), pair]));
      this.#pairs.set(map, pairs);
    }
    return pairs;
  }
}

/** Whether more brackets are open at once than a configuration can need: what follows each would be read in vain, which takes long. */
function isNestedTooDeeply(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > mostBrackets) return true;
  }
  return false;
}

function wording(message: string, code?: YAMLError['code']): string {
  if (message.startsWith('Maximum call stack')) return 'is nested too deeply';
  if (code === 'MULTIPLE_DOCS') return 'holds several documents; a configuration file has one, so remove the others';
  return `is not valid YAML or JSON: ${oneLine(message)}`;
}

const longestShown = 200;

function oneLine(message: string): string {
  const line = message.split('\n', 1)[0]!;
  return line.length > longestShown ? `${line.slice(0, longestShown)}…` : line;
}

function rangeStart(node: unknown): number | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0];
}

function keyOf({ key }: Pair): string {
  return String(isScalar(key) ? key.value : key);
}

/** The way to the last of a chain of nodes, each of which holds the next. */
function pathOf(chain: readonly unknown[]): FieldPath {
  return chain.flatMap((node, index): FieldPath => {
    if (isSeq(node)) return index === chain.length - 1 ? [] : [node.items.indexOf(chain[index + 1])];
    return isPair(node) ? [keyOf(node)] : [];
  });
}
