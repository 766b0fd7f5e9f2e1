import type { Exchange } from './exchange.ts';

/** A kind of request: a request without the names of objects and without values that differ every time. */
export interface RequestPattern {
  readonly client: string;
  readonly method: string;
  /** `/api/v1/namespaces/{namespace}/pods/{name}/binding` */
  readonly path: string;
  /** `key=value` in order; without the value unless the server behaves differently for each. */
  readonly query: string;
  readonly contentType?: string;
  /** The requested form of the response. */
  readonly accept: string;
  readonly status: number;
}

/** Query parameters whose values select the server's behavior; for others only the key is kept. */
const tellingQueries = new Set([
  'watch',
  'dryRun',
  'fieldValidation',
  'fieldManager',
  'allowWatchBookmarks',
  'includeObject',
  'propagationPolicy',
  'resourceVersionMatch',
  'sendInitialEvents',
]);

function patternOf({ client, method, path: target, contentType, accept, status }: Exchange): RequestPattern {
  const { pathname, searchParams } = new URL(target, 'http://server');
  return {
    client,
    method,
    path: withPlaceholders(pathname),
    query: [...searchParams].map(queryPart).sort().join('&'),
    ...(contentType !== undefined && { contentType }),
    accept: acceptKind(accept),
    status,
  };
}

/** Writes one line for each pattern, sorted, without duplicates. */
export function writePatterns(exchanges: readonly Exchange[]): string {
  const lines = new Set(exchanges.map((exchange) => JSON.stringify(patternOf(exchange))));
  return [...lines]
    .sort()
    .map((line) => `${line}\n`)
    .join('');
}

function withPlaceholders(path: string): string {
  const segments = path.split('/').slice(1);
  // /api/v1/… or /apis/GROUP/VERSION/…; other paths contain no object names.
  const head = segments[0] === 'api' ? 2 : segments[0] === 'apis' ? 3 : segments.length;
  const rest = segments.slice(head);
  if (rest[0] === 'namespaces' && rest.length > 2) {
    rest[1] = '{namespace}';
    if (rest.length > 3) rest[3] = '{name}';
  } else if (rest.length > 1) {
    rest[1] = '{name}';
  }
  return `/${[...segments.slice(0, head), ...rest].join('/')}`;
}

function queryPart([key, value]: [string, string]): string {
  if (key === 'fieldSelector') return `${key}=${value.split(',').map(withoutValue).sort().join()}`;
  if (key === 'resourceVersion' && value === '0') return `${key}=0`;
  return tellingQueries.has(key) ? `${key}=${value}` : key;
}

/** Removes the value, because kubectl writes the requirements of a selector in any order. */
function withoutValue(requirement: string): string {
  return requirement.replace(/(!?=).*/, '$1…');
}

/** Returns the preferred form: clients list forms in order of preference. */
function acceptKind(accept: string | undefined): string {
  if (accept === undefined) return 'unsaid';
  const first = accept.split(',')[0]!;
  const form = /;as=(\w+)/.exec(first)?.[1];
  if (form !== undefined) return form;
  const json = accept.includes('application/json') || accept.includes('*/*');
  return first.includes('protobuf') ? (json ? 'protobuf or JSON' : 'protobuf') : first;
}
