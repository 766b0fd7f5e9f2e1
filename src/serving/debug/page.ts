import { maxNameLength } from '../../base/safe-text.ts';
import type { Answer } from '../route.ts';
import { jsonAnswer } from '../json-answer.ts';

/** The requested part of a list that may be long. */
export interface PageRequest {
  /** Filter by namespace or name. */
  readonly namespace?: string;
  readonly name?: string;
  /** Group of the API that a PodGroup comes from. */
  readonly source?: string;
  /** Maximum number of rows. */
  readonly limit: number;
  /** Number of rows to skip. */
  readonly offset: number;
}

export interface Page<T> {
  readonly rows: readonly T[];
  /** `offset` of the next page; absent on the last page. */
  readonly nextOffset?: number;
}

const defaultLimit = 100;
const maxRows = 500;
/** Limit of `offset`, which bounds the work of one request. */
const maxOffset = 10_000_000;
/** How long a scan runs before it yields to other tasks. */
const sliceMs = 5;
/** Number of rows between two checks of the clock. */
const rowsPerCheck = 64;

/** Parses the filters, `?limit=` and `?offset=`. Returns a 400 response for anything else. */
export function pageRequest(
  query: URLSearchParams,
  filters: readonly ('namespace' | 'name' | 'source')[],
): PageRequest | Answer {
  const known = new Set<string>([...filters, 'limit', 'offset']);
  for (const name of query.keys()) {
    if (!known.has(name)) return bad(`unknown parameter: this path accepts ${[...known].join(', ')}`);
  }
  const limit = wholeNumber(query.get('limit') ?? String(defaultLimit), 1, maxRows);
  if (limit === undefined) return bad(`limit must be a whole number from 1 to ${maxRows}`);
  const offset = wholeNumber(query.get('offset') ?? '0', 0, maxOffset);
  if (offset === undefined) return bad(`offset must be a whole number from 0 to ${maxOffset}`);
  const request: { -readonly [K in keyof PageRequest]: PageRequest[K] } = { limit, offset };
  for (const filter of filters) {
    const value = query.get(filter);
    if (value === null) continue;
    if (value === '' || value.length > maxNameLength) return bad(`${filter} must be a name`);
    request[filter] = value;
  }
  return request;
}

export function isPageRequest(read: PageRequest | Answer): read is PageRequest {
  return 'limit' in read;
}

/**
 * Returns the requested rows; only these are passed to `show`. It works in short slices and yields to other tasks in between.
 * Rows may change in the meantime, so a page is not a snapshot.
 */
export async function readPage<S, T>(
  source: Iterable<S>,
  request: PageRequest,
  matches: (item: S) => boolean,
  show: (item: S) => T,
): Promise<Page<T>> {
  const rows: T[] = [];
  const { limit, offset } = request;
  let matched = 0;
  let visited = 0;
  let until = performance.now() + sliceMs;
  for (const item of source) {
    if (++visited % rowsPerCheck === 0 && performance.now() >= until) {
      await new Promise((resolve) => setImmediate(resolve));
      until = performance.now() + sliceMs;
    }
    if (!matches(item) || matched++ < offset) continue;
    if (rows.length === limit) return { rows, nextOffset: offset + limit };
    rows.push(show(item));
  }
  return { rows };
}

function wholeNumber(text: string, min: number, max: number): number | undefined {
  const number = Number(text);
  return /^\d{1,9}$/.test(text) && number >= min && number <= max ? number : undefined;
}

function bad(message: string): Answer {
  return { status: 400, text: `${message}\n` };
}

/** Returns the response with the rows under `name`, and the fields of `beside`. */
export function pageAnswer<T>(name: string, { rows, nextOffset }: Page<T>, beside: object): Answer {
  return jsonAnswer({ ...beside, [name]: rows, ...(nextOffset !== undefined && { nextOffset }) });
}
