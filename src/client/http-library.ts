import type { Configuration, HttpLibrary, RequestContext } from '@kubernetes/client-node';
import type { CallOptions, KubeClient } from './kube-client.ts';
import type { TransportRequest } from './transport.ts';

/** The generated classes insist on an absolute URL; only its path and query are used. */
const placeholderServer = 'http://kubernetes.invalid';

const methods = new Set<string>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies TransportRequest['method'][]);

/**
 * One of client-node's generated API classes (CoreV1Api, CustomObjectsApi, …) whose calls go through `client`: same
 * connections, rate limit, deadline and typed errors (never an ApiException). `callOptions` hold for every call made with
 * the result, so make one per lane. Patch methods send a JSON patch unless their last argument is
 * `setHeaderOptions('Content-Type', PatchStrategy.…)`. Watches do not go through it: a generated call reads its answer to
 * the end.
 */
export async function createTypedApi<Api>(
  ApiClass: new (configuration: Configuration) => Api,
  client: KubeClient,
  callOptions: CallOptions = {},
): Promise<Api> {
  // Loaded late: the package costs half a second, which commands that never come here should not pay.
  const { createConfiguration, ResponseContext, ServerConfiguration, wrapHttpLibrary } =
    await import('@kubernetes/client-node');
  const httpApi: HttpLibrary = wrapHttpLibrary({
    async send(context) {
      const answer = await client.call(toTransportRequest(context), withSignal(callOptions, context.getSignal()));
      return new ResponseContext(
        answer.status,
        { ...answer.headers },
        {
          text: () => Promise.resolve(answer.text),
          binary: () => Promise.reject(new Error('binary answers are not read by this HTTP library')),
          stream: () => null,
        },
      );
    },
  });
  const baseServer = new ServerConfiguration(placeholderServer, {});
  return new ApiClass(createConfiguration({ baseServer, httpApi }));
}

function toTransportRequest(context: RequestContext): TransportRequest {
  const url = new URL(context.getUrl());
  const method = context.getHttpMethod();
  const body = context.getBody();
  if (!isTransportMethod(method)) throw new Error(`${method} is not a method of the Kubernetes API`);
  if (body !== undefined && typeof body !== 'string') throw new Error('only text bodies can be sent');
  const headers = Object.fromEntries(
    Object.entries(context.getHeaders()).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { method, path: url.pathname + url.search, headers, ...(body === undefined ? {} : { body }) };
}

function isTransportMethod(method: string): method is TransportRequest['method'] {
  return methods.has(method);
}

function withSignal(options: CallOptions, signal: AbortSignal | undefined): CallOptions {
  if (signal === undefined) return options;
  return { ...options, signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]) };
}
