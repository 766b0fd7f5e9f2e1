import { isMap, isScalar, parseDocument, stringify } from 'yaml';
import type { Pair, YAMLMap } from 'yaml';

/** One row of the table of values. */
export interface DocumentedValue {
  /** `scheduler.replicaCount` */
  readonly path: string;
  readonly default: unknown;
  /** The comment above it, on one line; empty where there is none. */
  readonly description: string;
}

/** The values under a comment of the form `## Title` in values.yaml. */
export interface ValuesSection {
  readonly title: string;
  readonly values: readonly DocumentedValue[];
}

/** Objects that the table shows as one value. */
const whole = new Set([
  'resources',
  'nodeSelector',
  'podSecurityContext',
  'securityContext',
  'startupProbe',
  'livenessProbe',
  'readinessProbe',
  'tlsConfig',
  'labels',
]);

/** Reads the values and comments of values.yaml, in order. Throws for a value without a description. */
export function readValues(text: string): readonly ValuesSection[] {
  const document = parseDocument(text);
  if (!isMap(document.contents)) throw new Error('values.yaml must be a map');
  const sections: { title: string; values: DocumentedValue[] }[] = [];
  for (const [index, pair] of (document.contents as YAMLMap).items.entries()) {
    const comment =
      index === 0 ? [document.commentBefore, commentOf(pair, document.contents, 0)].join('\n') : commentOf(pair);
    const title = /^ ?## (.+)$/m.exec(comment)?.[1];
    if (title !== undefined) sections.push({ title, values: [] });
    const description = oneLine(comment.replaceAll(/^ ?## .+$/gm, ''));
    sections.at(-1)?.values.push(...valuesOf(pair, [], description));
  }
  return sections.map(({ title, values }) => ({ title, values: values.map((value) => described(value, sections)) }));
}

/** Copies a missing description from an earlier value with the same name: the second component or monitor does not repeat the comments of the first. */
function described(value: DocumentedValue, sections: readonly ValuesSection[]): DocumentedValue {
  if (value.description !== '') return value;
  const all = sections.flatMap(({ values }) => values).filter(({ description }) => description !== '');
  const segments = value.path.split('.');
  for (let from = 1; from < segments.length; from++) {
    const tail = `.${segments.slice(from).join('.')}`;
    const like = all.find(({ path }) => path.endsWith(tail));
    if (like !== undefined) return { ...value, description: like.description };
  }
  throw new Error(`values.yaml does not say what ${value.path} does: write a comment above it`);
}

function valuesOf(pair: Pair, above: readonly string[], description: string): readonly DocumentedValue[] {
  const name = String(isScalar(pair.key) ? pair.key.value : pair.key);
  const path = [...above, name];
  const node = pair.value;
  if (!isMap(node) || node.items.length === 0 || whole.has(name)) {
    const value: unknown = isMap(node) || isScalar(node) ? node.toJSON() : (node as { toJSON(): unknown }).toJSON();
    return [{ path: path.join('.'), default: value, description }];
  }
  // A comment above an object describes the object. The table shows it with the object's first value.
  return node.items.flatMap((inner, index) => {
    const own = oneLine(commentOf(inner, node, index));
    const text = index === 0 ? [description, own].filter((part) => part !== '').join(' ') : own;
    return valuesOf(inner, path, text);
  });
}

/** Returns the comment above a pair. The parser attaches the comment of the first pair to the map. */
function commentOf(pair: Pair, map?: YAMLMap, index?: number): string {
  const own = isScalar(pair.key) ? (pair.key.commentBefore ?? '') : '';
  return index === 0 ? [map?.commentBefore ?? '', own].join('\n') : own;
}

function oneLine(comment: string): string {
  return comment.replaceAll(/\s+/g, ' ').trim();
}

/** The tables of the chart's README. */
export function valuesTables(sections: readonly ValuesSection[]): string {
  return sections
    .map(({ title, values }) => {
      const rows = values.map(
        (value) => `| \`${value.path}\` | ${shown(value.default)} | ${cell(value.description)} |`,
      );
      return `### ${title}\n\n| Value | Default | What it does |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

function shown(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim();
  return `\`${cell(text)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
