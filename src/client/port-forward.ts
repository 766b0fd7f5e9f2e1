import type { Buffer } from 'node:buffer';
import { Duplex, PassThrough, Writable } from 'node:stream';
import type { KubeConfig } from '@kubernetes/client-node';
import { UserError } from '../base/user-error.ts';
import type { Endpoint } from './endpoint.ts';

export interface PortForwardOptions {
  /** The API server. A proxy of its kubeconfig is not used. */
  readonly endpoint: Endpoint;
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /** How long the API server may take to open it. */
  readonly timeoutMs: number;
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
 * Rejects with PortForwardError; a later failure destroys the connection with that error. If the process closes the connection, it ends
 * after what was sent, and is then destroyed with a PortForwardError.
 */
export async function openPortForward(options: PortForwardOptions): Promise<Duplex> {
  const { endpoint, namespace, pod, port, timeoutMs } = options;
  // Imported on first use: the complete package is large.
  const { PortForward } = await import('@kubernetes/client-node');
  const { tls, headers } = await endpoint.credentials();
  const config = {
    getCurrentCluster: () => ({ server: endpoint.server }),
    applyToHTTPSOptions: (given: object) =>
      Promise.resolve(Object.assign(given, tls, { headers, handshakeTimeout: timeoutMs })),
  };
  const toPod = new PassThrough();
  const connection = new Duplex({
    autoDestroy: false,
    read: () => undefined,
    write: (data, encoding, done) => void toPod.write(data, encoding, done),
    final: (done) => void toPod.end(done),
  });
  // The caller may have no listener yet, or no longer.
  connection.on('error', () => undefined);
  const fail = (problem: string): void => void connection.destroy(new PortForwardError(options, problem));
  const fromPod = writable((data) => connection.push(data));
  const problems = writable((data) => {
    const message = data.toString('utf8').trim();
    if (message !== '') fail(message);
  });
  try {
    const forward = new PortForward(config as unknown as KubeConfig);
    const opened: unknown = await forward.portForward(namespace, pod, [port], fromPod, problems, toPod);
    const socket = opened as ForwardingSocket;
    connection.once('close', () => socket.close());
    socket.onclose = () => connection.push(null);
    socket.onerror = ({ message }) => fail(message);
    // What listens to the end completes the last answer first.
    connection.once('end', () => setImmediate(() => fail('the API server has closed the connection')));
  } catch (error) {
    const { message = 'the connection failed' } = error as { readonly message?: string };
    throw new PortForwardError(options, message, { cause: error });
  }
  // The error may arrive together with the answer that opens the connection.
  if (connection.errored !== null) throw connection.errored;
  return connection;
}

function writable(take: (data: Buffer) => void): Writable {
  return new Writable({
    write: (data: Buffer, _encoding, done) => {
      take(data);
      done();
    },
  });
}
