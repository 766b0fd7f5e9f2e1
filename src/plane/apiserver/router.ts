import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { coreVersions, groupList, groupOf, resourceList } from './discovery/discovery.ts';
import { openApiDocument, openApiIndex } from './discovery/open-api.ts';
import { badRequest, methodNotAllowed, unknownPath } from './http/api-error.ts';
import { authenticate, requireCredentials } from './access/authenticate.ts';
import { parseResourceTarget } from './http/request-target.ts';
import { jsonResponse, pageNotFound, textResponse } from './http/response.ts';
import type { JsonObject } from './json.ts';
import type { ResourceRegistry } from './kinds/resource-registry.ts';
import { handleResource } from './resource-requests.ts';
import type { ApiContext } from './verbs/api-context.ts';

/** Response to `GET /version`. The minor version is the Kubernetes version whose behavior the server imitates. */
const serverVersion: JsonObject = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.0+tutti',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'node',
};

const healthPaths = new Set(['/healthz', '/livez', '/readyz']);

/** The media type that kubectl accepts from `/openapi/v2`, and the same type in its Content-Type spelling. */
const openApiV2 = {
  accepted: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
};

export interface RouterContext {
  readonly api: ApiContext;
  /** Undefined: requests need no token. */
  readonly administratorToken: string | undefined;
}

/** Handles one request synchronously, so that its writes are atomic. Throws ApiError. */
export function route(
  context: RouterContext,
  request: TransportRequest,
  signal: AbortSignal | undefined,
): TransportResponse {
  const { path, query } = parseTarget(request.path);
  const isAdministrator = authenticate(request, context.administratorToken);
  if (healthPaths.has(path)) return textResponse('ok', 'text/plain; charset=utf-8');
  if (path === '/version') return jsonResponse(serverVersion);
  requireCredentials(isAdministrator);
  const segments = decodeSegments(path);
  const [root] = segments;
  const target = parseResourceTarget(segments);
  if (root === 'openapi') return openApi(context.api.registry, request, segments.slice(1));
  if (root !== 'api' && root !== 'apis') throw unknownPath();
  if (target === undefined) return discovery(context.api, request, segments);
  return handleResource(context.api, request, target, query, signal);
}

function parseTarget(target: string): { path: string; query: URLSearchParams } {
  const queryStart = target.indexOf('?');
  const path = (queryStart < 0 ? target : target.slice(0, queryStart)).replace(/(.)\/$/, '$1');
  return { path, query: new URLSearchParams(queryStart < 0 ? '' : target.slice(queryStart + 1)) };
}

function decodeSegments(path: string): string[] {
  try {
    return path.slice(1).split('/').map(decodeURIComponent);
  } catch {
    throw badRequest(`the path ${JSON.stringify(path)} is not properly percent-encoded`);
  }
}

function requireGet(request: TransportRequest): void {
  if (request.method === 'GET') return;
  throw methodNotAllowed(`${request.method} is not supported at this path; use GET`);
}

function discovery(api: ApiContext, request: TransportRequest, segments: readonly string[]): TransportResponse {
  requireGet(request);
  const { registry } = api;
  const [root, group, version] = segments;
  if (segments.length === 1) {
    return jsonResponse(root === 'api' ? coreVersions(request.headers.host ?? '') : groupList(registry));
  }
  const found =
    root === 'api'
      ? resourceList(registry, '', group!)
      : version === undefined
        ? groupOf(registry, group!)
        : resourceList(registry, group!, version);
  return found === undefined ? pageNotFound() : jsonResponse(found);
}

function openApi(
  registry: ResourceRegistry,
  request: TransportRequest,
  segments: readonly string[],
): TransportResponse {
  requireGet(request);
  const [version, ...rest] = segments;
  if (version === 'v2' && rest.length === 0 && request.headers.accept?.includes(openApiV2.accepted) === true) {
    // kubectl looks here for a kind that v3 lacks. An empty document makes it report that the kind does not exist; a 404
    // would make it report that validation failed.
    return textResponse('', openApiV2.contentType);
  }
  if (version !== 'v3') throw unknownPath();
  if (rest.length === 0) return textResponse(JSON.stringify(openApiIndex(registry)), 'text/plain; charset=utf-8');
  const document = openApiDocument(registry, rest.join('/'));
  if (document === undefined) throw unknownPath();
  return jsonResponse(document);
}
