import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Pair, YAMLError, YAMLMap } from 'yaml';
import type { FieldPath } from '../plugins/field-path.ts';

/** Reports a diagnostic about a field. `at` is the field whose position is shown, if it is a different one. */
export type ReportDiagnostic = (path: FieldPath, text: string, at?: FieldPath) => void;

/** A position in a file; both start at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Maximum length of a file; enough for thousands of profiles. */
const maxCharacters = 4_000_000;
/** Maximum copies of anchored values, so that a few lines cannot expand to billions. */
const maxAliases = 100;
const maxErrors = 10;
const maxBrackets = 200;
/** Only document markers and comments. */
const emptyRest = /^(?:(?:---|\.\.\.)?[ \t]*(?:#.*)?(?:\r?\n|$))*$/;
/** YAML 1.1, which kube-scheduler reads, takes a number like this as octal. */
const leadingZero = /^[-+]?0\d/;

/** A YAML or JSON file (JSON is YAML): its value, and the position of each field. */
export class ConfigurationDocument {
  /** The value, as in JSON; undefined if the text is unreadable. Then there are errors to report. */
  readonly value: unknown;
  readonly #document: Document | undefined;
  readonly #lines = new LineCounter();
  /** mapping -> key -> its pair */
  readonly #pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();
  /** Errors that make the text unreadable: offset and message. */
  readonly #unreadable: { readonly offset: number; readonly text: string }[] = [];
  /** Errors of single keys and values. */
  readonly #wrong: { readonly path: FieldPath; readonly offset: number; readonly text: string }[] = [];

  /** Parses the text. Never throws. */
  constructor(text: string) {
    if (text.length > maxCharacters) {
      this.#fail(0, `has ${text.length} characters, the maximum is ${maxCharacters}`);
      return;
    }
    if (isNestedTooDeeply(text)) {
      this.#fail(0, 'is nested too deeply');
      return;
    }
    try {
      // The library's own search for duplicate keys takes minutes for a mapping of a megabyte.
      const options = { uniqueKeys: false, prettyErrors: false, merge: true, logLevel: 'error' } as const;
      this.#document = parseDocument(text, { ...options, lineCounter: this.#lines });
      this.#readErrors(this.#document, text);
      if (this.#unreadable.length === 0) this.value = this.#document.toJS({ maxAliasCount: maxAliases });
    } catch (error) {
      // Text nested deeper than the stack, an alias without an anchor, or too many aliases.
      this.#fail(0, wording((error as Error).message));
    }
  }

  get isReadable(): boolean {
    return this.#unreadable.length === 0;
  }

  /** Reports every error of the text itself; `place` is the position of errors without a field. */
  reportErrors(report: (path: FieldPath, text: string, place: Position) => void): void {
    for (const { offset, text } of this.#unreadable) report([], text, this.#placeOf(offset));
    for (const { path, offset, text } of this.#wrong) report(path, text, this.#placeOf(offset));
  }

  /** Returns the position of the field, or of the deepest existing field around it. */
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
      // Templates often leave a trailing `---`.
      if (error.code === 'MULTIPLE_DOCS' && emptyRest.test(text.slice(error.pos[0]))) continue;
      this.#fail(error.pos[0], wording(error.message, error.code));
    }
    if (this.isReadable) this.#checkNodes(document);
  }

  #checkNodes(document: Document): void {
    visit(document, {
      Map: (_, map, ancestors) => this.#findDuplicateKeys(map, ancestors),
      Scalar: (_, scalar, ancestors) => {
        const { value, source = '' } = scalar;
        if (typeof value !== 'number' || !leadingZero.test(source)) return;
        const text = `must not start with 0, not ${source}: kube-scheduler would read it as an octal number`;
        this.#wrong.push({ path: pathOf([...ancestors, scalar]), offset: rangeStart(scalar) ?? 0, text });
      },
    });
  }

  /** Reports every repeated key of a mapping except the first. Merge keys may be repeated. */
  #findDuplicateKeys(map: YAMLMap, ancestors: readonly unknown[]): void {
    /** key -> its first pair */
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
          text: `is set twice; the first is on line ${line}`,
        });
      }
    }
  }

  #fail(offset: number, text: string): void {
    // A single mistake may cause a hundred errors after it.
    const isReported = this.#unreadable.some((other) => other.text === text) || this.#unreadable.length >= maxErrors;
    if (!isReported) this.#unreadable.push({ offset, text });
  }

  #placeOf(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return line === 0 ? { line: 1, column: 1 } : { line, column: col };
  }

  #pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    let pairs = this.#pairs.get(map);
    if (pairs === undefined) {
      // Of two pairs with the same key, the first counts.
      pairs = new Map(map.items.toReversed().map((pair) => [keyOf(pair), pair]));
      this.#pairs.set(map, pairs);
    }
    return pairs;
  }
}

/** Returns whether more brackets are open at once than a configuration needs: parsing such a text would take too long. */
function isNestedTooDeeply(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > maxBrackets) return true;
  }
  return false;
}

function wording(message: string, code?: YAMLError['code']): string {
  if (message.startsWith('Maximum call stack')) return 'is nested too deeply';
  if (code === 'MULTIPLE_DOCS') return 'contains several documents: keep one and remove the others';
  return `is not valid YAML or JSON: ${oneLine(message)}`;
}

const maxShownLength = 200;

function oneLine(message: string): string {
  const line = message.split('\n', 1)[0]!;
  return line.length > maxShownLength ? `${line.slice(0, maxShownLength)}…` : line;
}

function rangeStart(node: unknown): number | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0];
}

function keyOf({ key }: Pair): string {
  return String(isScalar(key) ? key.value : key);
}

/** Returns the path to the last of a chain of nodes, each of which contains the next. */
function pathOf(chain: readonly unknown[]): FieldPath {
  return chain.flatMap((node, index): FieldPath => {
    if (isSeq(node)) return index === chain.length - 1 ? [] : [node.items.indexOf(chain[index + 1])];
    return isPair(node) ? [keyOf(node)] : [];
  });
}
