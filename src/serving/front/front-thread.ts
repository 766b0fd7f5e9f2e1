// The thread that meets the clients: it does their handshakes, reads their requests and keeps the limits, so that whatever they do costs
// the thread that schedules nothing but the requests that are handed on to it, at a bounded rate. It imports little and logs
// nothing: its memory is paid by every process.
import { constants, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { httpLimits } from '../http-limits.ts';
import { HttpService, limitedServerOptions } from '../http-service.ts';
import type { Answer } from '../route.ts';
import type { ClientCertificate, ServedRequest } from '../served-request.ts';
import type { FromFront, FrontOptions, ToFront } from './front-messages.ts';
import { RateGate } from './rate-gate.ts';

const parent = parentPort!;
const options = workerData as FrontOptions;
let { tls } = options;
const rateGate = new RateGate({ perSecond: httpLimits.handedOnPerSecond, atOnce: httpLimits.handedOnAtOnce });
/** id of a request that was handed on -> takes its answer */
const pending = new Map<number, (answer: Answer) => void>();
let handedOn = 0;

const server = createServer({
  ...limitedServerOptions,
  ...secureContext(),
  requestCert: true,
  rejectUnauthorized: false, // who nobody knows may still ask for what everybody may see
  handshakeTimeout: httpLimits.handshakeMs,
});
const service = new HttpService({
  server,
  answer: (request, { socket }) => {
    const certificate = certificateOf(socket as TLSSocket);
    return handOn(certificate === undefined ? request : { ...request, certificate });
  },
});

const onFailure = ({ code, message }: NodeJS.ErrnoException): void => {
  notify({ kind: 'unavailable', code, message });
  parent.close();
};
server.once('error', onFailure);
server.listen({ port: options.port, host: options.host, reusePort: options.sharesPort }, () => {
  server.off('error', onFailure);
  // What fails while connections are accepted (too many open files, say) ends none of those that there are.
  server.on('error', () => undefined);
  notify({ kind: 'listening', port: (server.address() as AddressInfo).port });
});

parent.on('message', (message: ToFront) => {
  switch (message.kind) {
    case 'answer':
      pending.get(message.id)?.(message.answer);
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
      // The thread ends when nothing is left to be done.
      void service.close(message.graceMs).then(() => parent.close());
      break;
  }
});

function secureContext(): SecureContextOptions {
  const { minVersion, ciphers } = options;
  return {
    cert: tls.certificates,
    key: tls.key,
    // Never absent: Node would take every authority of the world.
    ca: [...tls.clientAuthorities],
    minVersion,
    ...(ciphers !== undefined && { ciphers }),
    // No session is resumed: each connection's certificate is verified against the authorities of its time.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    sessionIdContext: randomBytes(16).toString('hex'),
  };
}

/** Undefined where there is none, or nothing to verify it against. */
function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  if (tls.clientAuthorities.length === 0) return undefined;
  // An empty object where the client showed none.
  const { subject } = socket.getPeerCertificate() as { readonly subject?: Readonly<Record<string, unknown>> };
  if (subject === undefined) return undefined;
  if (!socket.authorized) return { isVerified: false, problem: String(socket.authorizationError) };
  return { isVerified: true, commonName: texts(subject.CN).at(-1) ?? '', organizations: texts(subject.O) };
}

/** A part of a name can be there several times. */
function texts(part: unknown): readonly string[] {
  return (Array.isArray(part) ? part : [part]).filter((text) => typeof text === 'string');
}

function handOn(request: ServedRequest): Promise<Answer> {
  return new Promise((resolve) => {
    rateGate.run(() => {
      const id = handedOn++;
      const settle = (answer: Answer): void => {
        clearTimeout(deadline);
        pending.delete(id);
        resolve(answer);
      };
      const deadline = setTimeout(() => settle(stalled), options.answerWithinMs);
      pending.set(id, settle);
      notify({ kind: 'request', id, request });
    });
  });
}

/** The same for all paths: liveness and readiness fail with it, as they should. */
const stalled: Answer = {
  status: 500,
  text: `[-]event-loop failed: no answer within ${options.answerWithinMs / 1_000} s\n`,
};

function notify(message: FromFront): void {
  parent.postMessage(message);
}

// What was not foreseen ends this thread with its reason, and the process starts another.
process.on('unhandledRejection', (reason) => {
  throw reason;
});
