// The thread that serves clients: it does the TLS handshakes, reads the requests and enforces the limits. Clients can cost the
// scheduling thread nothing but the forwarded requests, at a bounded rate. It imports little and logs nothing: every process pays
// for its memory.
import { constants, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/system-clock.ts';
import { httpLimits } from '../http-limits.ts';
import { HttpService, limitedServerOptions } from '../http-service.ts';
import type { Answer } from '../route.ts';
import type { ClientCertificate, ServedRequest } from '../served-request.ts';
import type { FromFront, FrontOptions, SentAnswer, ToFront } from './front-messages.ts';
import { RateGate } from './rate-gate.ts';
import { RelayedStream } from './relayed-stream.ts';

const parent = parentPort!;
const options = workerData as FrontOptions;
let { tls } = options;
const rateGate = new RateGate({
  perSecond: httpLimits.forwardedPerSecond,
  atOnce: httpLimits.forwardedAtOnce,
  clock: systemClock,
});
/** id of a forwarded request -> callback for its response */
const pending = new Map<number, (answer: Answer) => void>();
/** id of a request -> the stream that is its response */
const streams = new Map<number, RelayedStream>();
let forwarded = 0;

const server = createServer({
  ...limitedServerOptions,
  ...secureContext(),
  requestCert: true,
  rejectUnauthorized: false, // unknown clients may still get the public paths
  handshakeTimeout: httpLimits.handshakeMs,
});
const service = new HttpService({
  server,
  answer: (request, { socket }) => {
    const certificate = certificateOf(socket as TLSSocket);
    return forward(certificate === undefined ? request : { ...request, certificate }, () => !socket.destroyed);
  },
});

const onFailure = ({ code, message }: NodeJS.ErrnoException): void => {
  notify({ kind: 'unavailable', code, message });
  parent.close();
};
server.once('error', onFailure);
server.listen({ port: options.port, host: options.host, reusePort: options.sharesPort }, () => {
  server.off('error', onFailure);
  // An error while accepting connections (such as too many open files) does not end the existing ones.
  server.on('error', () => undefined);
  notify({ kind: 'listening', port: (server.address() as AddressInfo).port });
});

parent.on('message', (message: ToFront) => {
  switch (message.kind) {
    case 'answer':
      settle(message.id, message.answer);
      break;
    case 'streamText':
      streams.get(message.id)?.send(message.text);
      break;
    case 'streamEnd':
      streams.get(message.id)?.end();
      break;
    case 'tls':
      tls = message.tls;
      server.setSecureContext(secureContext());
      service.endConnections();
      break;
    case 'drain':
      service.drain();
      break;
    case 'close':
      // The thread ends when it has no more work.
      void service.close(message.graceMs).then(() => parent.close());
      break;
  }
});

function secureContext(): SecureContextOptions {
  const { minVersion, ciphers } = options;
  return {
    cert: tls.certificates,
    key: tls.key,
    // Always set: otherwise Node would accept every CA that it ships.
    ca: [...tls.clientAuthorities],
    minVersion,
    ...(ciphers !== undefined && { ciphers }),
    // No session resumption: each connection's certificate is verified against the current CAs.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    sessionIdContext: randomBytes(16).toString('hex'),
  };
}

/** Returns undefined if there is no certificate, or no CA to verify it. */
function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  if (tls.clientAuthorities.length === 0) return undefined;
  // An empty object if the client sent no certificate.
  const { subject } = socket.getPeerCertificate() as { readonly subject?: Readonly<Record<string, unknown>> };
  if (subject === undefined) return undefined;
  if (!socket.authorized) return { isVerified: false, problem: String(socket.authorizationError) };
  return { isVerified: true, commonName: texts(subject.CN).at(-1) ?? '', organizations: texts(subject.O) };
}

/** An attribute of a name may occur several times. */
function texts(part: unknown): readonly string[] {
  return (Array.isArray(part) ? part : [part]).filter((text) => typeof text === 'string');
}

function settle(id: number, { isStream, ...answer }: SentAnswer): void {
  const resolve = pending.get(id);
  if (isStream !== true) {
    resolve?.(answer);
    return;
  }
  const closed = (): void => {
    streams.delete(id);
    notify({ kind: 'streamClosed', id });
  };
  if (resolve === undefined) {
    // The answer was too late.
    closed();
    return;
  }
  const stream = new RelayedStream({ lagged: () => notify({ kind: 'streamLagged', id }), closed });
  streams.set(id, stream);
  resolve({ ...answer, stream: stream.open });
}

/** Never resolves if the client has gone before its turn. */
function forward(request: ServedRequest, isWanted: () => boolean): Promise<Answer> {
  return new Promise((resolve) => {
    const start = (): void => {
      const id = forwarded++;
      const settled = (answer: Answer): void => {
        clearTimeout(deadline);
        pending.delete(id);
        resolve(answer);
      };
      const deadline = setTimeout(() => settled(stalled), options.answerWithinMs);
      pending.set(id, settled);
      notify({ kind: 'request', id, request });
    };
    rateGate.run({ address: request.address, isWanted, start });
  });
}

/** The same for all paths: liveness and readiness fail too, as they should. */
const stalled: Answer = {
  status: 500,
  text: `[-]event-loop failed: no response within ${options.answerWithinMs / 1_000} s\n`,
};

function notify(message: FromFront): void {
  parent.postMessage(message);
}

// An unexpected error ends this thread with its reason, and the process starts another one.
process.on('unhandledRejection', (reason) => {
  throw reason;
});
