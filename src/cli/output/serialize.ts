import { stringify } from 'yaml';
import { safeCopy } from '../../base/safe-copy.ts';

export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Returns the object as JSON or YAML, with a line break at the end. All its texts are made safe to show. */
export function serialize(object: object, format: 'json' | 'yaml'): string {
  const safe = safeCopy(object);
  return format === 'json' ? `${JSON.stringify(safe, undefined, 2)}\n` : stringify(safe);
}
