import type { TransportRequest } from '../../client/transport.ts';
import { refusalText } from './access/attributes.ts';
import type { Attributes } from './access/attributes.ts';
import type { User } from './access/user.ts';
import { ApiError, forbidden } from './http/api-error.ts';
import type { ResourceTarget } from './http/request-target.ts';
import type { ApiContext } from './verbs/api-context.ts';

const writes = { POST: 'create', PUT: 'update', PATCH: 'patch' } as const;

/** What a request asks to do; `target` is undefined for a path that is no resource. */
export function attributesOf(
  request: TransportRequest,
  path: string,
  query: URLSearchParams,
  target: ResourceTarget | undefined,
): Attributes {
  const { method } = request;
  if (target === undefined) return { type: 'path', verb: method.toLowerCase(), path };
  const { group, plural, subresource, namespace, name = '' } = target;
  return {
    type: 'resource',
    verb: verbOf(method, name, query),
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    // A namespace is asked for as something of its own.
    namespace: group === '' && plural === 'namespaces' && name !== '' ? name : namespace,
    name,
  };
}

function verbOf(method: TransportRequest['method'], name: string, query: URLSearchParams): string {
  switch (method) {
    case 'GET':
      if (query.get('watch') === 'true' || query.get('watch') === '1') return 'watch';
      return name === '' ? 'list' : 'get';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return writes[method];
  }
}

/** Throws 403 unless the user may do that. */
export function authorize(api: ApiContext, user: User, attributes: Attributes): void {
  if (api.rbac.allows(user, attributes) !== undefined) return;
  const why = refusalText(user.name, attributes);
  if (attributes.type === 'resource') {
    throw forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, why);
  }
  throw new ApiError({ code: 403, reason: 'Forbidden', message: `forbidden: ${why}`, details: {} });
}
