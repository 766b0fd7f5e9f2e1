import type { Configuration, HttpLibrary, RequestContext } from '@kubernetes/client-node';
import type { CallOptions, KubeClient } from './kube-client.ts';
import type { TransportRequest } from './transport.ts';

/** The generated classes require an absolute URL; only its path and query are used. */
const placeholderServer = 'http://kubernetes.invalid';

const methods = new Set<string>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies TransportRequest['method'][]);

/**
 * Returns one of client-node's generated API classes (CoreV1Api, CustomObjectsApi, …) whose calls go through `client`. They share
 * its connections, rate limit, deadline and typed errors (never an ApiException). `callOptions` apply to every call of the
 * result, so create one per lane. Patch methods send a JSON patch unless their last argument is `setHeaderOptions('Content-Type',
 * PatchStrategy.…)`. It cannot watch: a generated call reads the response to its end.
 */
export async function createTypedApi<Api>(
  ApiClass: new (configuration: Configuration) => Api,
  client: KubeClient,
  callOptions: CallOptions = {},
): Promise<Api> {
  // Imported on first use: the package takes half a second to load, which other commands should not pay.
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
          binary: () => Promise.reject(new Error('this HTTP library does not read binary responses')),
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
  if (body !== undefined && typeof body !== 'string') throw new Error('the body must be text');
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
