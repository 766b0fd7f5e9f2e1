import type { JsonObject, JsonValue } from '../json.ts';
import { valueAt } from './access.ts';
import { humanDuration } from './human-duration.ts';

/** One column of the table that `kubectl get` prints. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` marks the object's name. */
  readonly format?: string;
  readonly description: string;
  /** 0: always shown; greater: only with -o wide. */
  readonly priority: number;
  /** The cell; ages are counted up to `nowMs`. */
  readonly cell: (object: JsonObject, nowMs: number) => JsonValue;
}

export function textColumn(
  name: string,
  cell: (object: JsonObject, nowMs: number) => JsonValue,
  wide?: 'wide',
): Column {
  return { name, type: 'string', description: `${name} of the object.`, priority: wide ? 1 : 0, cell };
}

/** Shows the value at a path such as `spec.volumeName`, or `absent` if there is none. */
export function fieldColumn(name: string, path: string, absent: JsonValue = '', wide?: 'wide'): Column {
  const type = typeof absent === 'number' ? 'integer' : typeof absent === 'boolean' ? 'boolean' : 'string';
  return { ...textColumn(name, (object) => valueAt(object, path) ?? absent, wide), type };
}

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name is unique within a namespace and cannot be changed.',
  priority: 0,
  cell: (object) => (object.metadata as JsonObject).name as string,
};

export const ageColumn: Column = textColumn('Age', (object, nowMs) =>
  ageSince((object.metadata as JsonObject).creationTimestamp, nowMs),
);

/** The age of a timestamp, as kubectl shows it; `<unknown>` when there is none. */
export function ageSince(timestamp: JsonValue | undefined, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? '<invalid>' : humanDuration(nowMs - at);
}
