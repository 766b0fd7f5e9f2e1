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
  /** 0: always shown. Greater than 0: shown with -o wide only. */
  readonly priority: number;
  /** Returns the value of the cell. Ages are relative to `nowMs`. */
  readonly cell: (object: JsonObject, nowMs: number) => JsonValue;
}

export function textColumn(
  name: string,
  cell: (object: JsonObject, nowMs: number) => JsonValue,
  wide?: 'wide',
): Column {
  return { name, type: 'string', description: `${name} of the object.`, priority: wide ? 1 : 0, cell };
}

/** Returns a column with the value at a path such as `spec.volumeName`, or `absent` if there is none. */
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

/** Returns the age of a timestamp, as kubectl shows it. `<unknown>` if there is none. */
export function ageSince(timestamp: JsonValue | undefined, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? '<invalid>' : humanDuration(nowMs - at);
}
