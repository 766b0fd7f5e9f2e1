import type { Answer } from '../route.ts';
import { jsonAnswer } from '../json-answer.ts';

/** What is asked for of something that may be long. */
export interface PageRequest {
  /** Only those of that namespace, or of that name. */
  readonly namespace?: string;
  readonly name?: string;
  /** Rows at most. */
  readonly limit: number;
  /** Rows to leave out first. */
  readonly offset: number;
}

export interface Page<T> {
  readonly rows: readonly T[];
  /** `offset` for the next page; absent on the last. */
  readonly nextOffset?: number;
}

const defaultLimit = 100;
const mostRows = 500;
/** Rows may be there without end to who counts so far. */
const mostOffset = 10_000_000;
/** A namespace, or a name: as long as Kubernetes has them. */
const longestName = 253;
/** One stretch of looking through rows; then what else the process does gets its turn. */
const stretchMs = 5;
/** How many rows are looked at between two looks at the clock. */
const rowsBetween = 64;

/** Reads `?namespace=`, `?name=`, `?limit=` and `?offset=`; answers 400 for what is none. */
export function pageRequest(query: URLSearchParams, filters: readonly ('namespace' | 'name')[]): PageRequest | Answer {
  const known = new Set<string>([...filters, 'limit', 'offset']);
  for (const name of query.keys()) {
    if (!known.has(name)) return bad(`there is no such parameter here; there are ${[...known].join(', ')}`);
  }
  const limit = wholeNumber(query.get('limit') ?? String(defaultLimit), 1, mostRows);
  if (limit === undefined) return bad(`limit must be a whole number from 1 to ${mostRows}`);
  const offset = wholeNumber(query.get('offset') ?? '0', 0, mostOffset);
  if (offset === undefined) return bad(`offset must be a whole number from 0 to ${mostOffset}`);
  const request: { -readonly [K in keyof PageRequest]: PageRequest[K] } = { limit, offset };
  for (const filter of filters) {
    const value = query.get(filter);
    if (value === null) continue;
    if (value === '' || value.length > longestName) return bad(`${filter} must be a name of an object`);
    request[filter] = value;
  }
  return request;
}

export function isPageRequest(read: PageRequest | Answer): read is PageRequest {
  return 'limit' in read;
}

/**
 * The rows that are wished for, made by `show` only for those. Works in short stretches, between which the process does what else it has to
 * do; rows may come and go meanwhile, so that a page is no picture of one moment.
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
  let looked = 0;
  let until = performance.now() + stretchMs;
  for (const item of source) {
    if (++looked % rowsBetween === 0 && performance.now() >= until) {
      await new Promise((resolve) => setImmediate(resolve));
      until = performance.now() + stretchMs;
    }
    if (!matches(item) || matched++ < offset) continue;
    if (rows.length === limit) return { rows, nextOffset: offset + limit };
    rows.push(show(item));
  }
  return { rows };
}

function wholeNumber(text: string, least: number, most: number): number | undefined {
  const number = Number(text);
  return /^\d{1,9}$/.test(text) && number >= least && number <= most ? number : undefined;
}

function bad(message: string): Answer {
  return { status: 400, text: `${message}\n` };
}

/** The page with its rows under that name, and what else there is to say. */
export function pageAnswer<T>(name: string, { rows, nextOffset }: Page<T>, beside: object): Answer {
  return jsonAnswer({ ...beside, [name]: rows, ...(nextOffset !== undefined && { nextOffset }) });
}
