import { Duplex, PassThrough } from 'node:stream';
import type { KubeConfig } from '@kubernetes/client-node';
import { UserError } from '../base/user-error.ts';
import type { Endpoint } from './endpoint.ts';

export interface PortForwardOptions {
  /** The API server. A proxy of its kubeconfig is not used. */
  readonly endpoint: Endpoint;
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** The WebSocket of client-node, whose types are not installed. */
interface ForwardingSocket {
  onclose: () => void;
  onerror: (event: { readonly message: string }) => void;
  close(): void;
}

/** The connection to the port of a pod failed or was refused. */
export class PortForwardError extends UserError {
  override readonly name = 'PortForwardError';

  constructor({ namespace, pod, port }: PortForwardOptions, problem: string, options?: ErrorOptions) {
    super(`cannot forward port ${port} of pod ${namespace}/${pod}: ${problem}`, options);
  }
}

/**
 * Opens a connection to a port of a pod through the API server, over a WebSocket as client-node does it. It needs permission to create
 * `pods/portforward`. The connection is not encrypted between the node and the process in the pod: use TLS inside. Destroy it at the end.
 * Rejects with PortForwardError; a later failure destroys the connection with that error.
 */
export async function openPortForward(options: PortForwardOptions): Promise<Duplex> {
  const { endpoint, namespace, pod, port } = options;
  // Imported on first use: the complete package is large.
  const { PortForward } = await import('@kubernetes/client-node');
  const { tls, headers } = await endpoint.credentials();
  const config = {
    getCurrentCluster: () => ({ server: endpoint.server }),
    applyToHTTPSOptions: (given: object) => Promise.resolve(Object.assign(given, tls, { headers })),
  };
  const [fromPod, toPod, problems] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const connection = Duplex.from({ readable: fromPod, writable: toPod });
  // The caller may have no listener yet, or no longer.
  connection.on('error', () => undefined);
  const fail = (problem: string): void => void connection.destroy(new PortForwardError(options, problem));
  problems.on('data', (message: unknown) => {
    if (String(message) !== '') fail(String(message).trim());
  });
  try {
    const forward = new PortForward(config as unknown as KubeConfig);
    const opened: unknown = await forward.portForward(namespace, pod, [port], fromPod, problems, toPod);
    const socket = opened as ForwardingSocket;
    socket.onclose = () => fail('the API server has closed the connection');
    socket.onerror = ({ message }) => fail(message);
    connection.on('close', () => socket.close());
    return connection;
  } catch (error) {
    const { message = 'the connection failed' } = error as { readonly message?: string };
    throw new PortForwardError(options, message, { cause: error });
  }
}
