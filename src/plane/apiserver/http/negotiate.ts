import { notAcceptable } from './api-error.ts';

/** The form in which the client wants an object or a list. */
export type ObjectForm = 'object' | 'table';

/** One entry of an Accept header. */
export interface AcceptEntry {
  /** Such as `application/json` or `application/*`, in lower case. */
  readonly mediaType: string;
  /** parameter name -> value */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Returns the entries in order of appearance, which counts as the client's preference. Ignores quality values. */
function parseAccept(header: string | undefined): AcceptEntry[] {
  const entries: AcceptEntry[] = [];
  for (const part of (header ?? '').split(',')) {
    const [mediaType, ...rest] = part.split(';').map((piece) => piece.trim());
    if (mediaType === undefined || mediaType === '') continue;
    const parameters = new Map<string, string>();
    for (const piece of rest) {
      const equals = piece.indexOf('=');
      if (equals > 0) parameters.set(piece.slice(0, equals).trim(), piece.slice(equals + 1).trim());
    }
    entries.push({ mediaType: mediaType.toLowerCase(), parameters });
  }
  return entries.length === 0 ? [{ mediaType: '*/*', parameters: new Map() }] : entries;
}

/** Returns whether JSON satisfies the entry. */
function acceptsJson(entry: AcceptEntry): boolean {
  return entry.mediaType === 'application/json' || entry.mediaType === '*/*' || entry.mediaType === 'application/*';
}

/**
 * Returns the first form in the client's list that the server supports. Throws 406 if there is none, such as for protobuf without
 * JSON as an alternative.
 */
export function negotiateForm(header: string | undefined): { form: ObjectForm; version: string } {
  for (const entry of parseAccept(header)) {
    if (!acceptsJson(entry)) continue;
    const as = entry.parameters.get('as');
    if (as === undefined) return { form: 'object', version: 'v1' };
    const version = entry.parameters.get('v') ?? 'v1';
    if (entry.parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue;
    if (as === 'Table') return { form: 'table', version };
  }
  throw notAcceptable(['application/json']);
}
