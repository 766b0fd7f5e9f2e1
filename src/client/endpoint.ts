import type { Buffer } from 'node:buffer';

/** How to prove the server's identity and, with a client certificate, one's own. Contents, not file names. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly pfx?: string | Buffer;
  readonly passphrase?: string;
  /** Only ever set to false, by `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

/** What one request needs beside itself. Two snapshots with the same `tlsKey` may share connections. */
export interface Credentials {
  readonly tls: TlsOptions;
  /** Names `tls`: differs whenever a certificate, key or authority differs. */
  readonly tlsKey: string;
  /** Header names in lower case: authorization, impersonate-user. Of several values each is sent on a line of its own. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** Where an API server is and how to be let in. Owns the refreshing of credentials; the transport only asks. */
export interface Endpoint {
  /** Scheme, host, port and an optional path prefix; no slash at the end. */
  readonly server: string;
  readonly proxyUrl?: string;
  /** The current credentials: at once where they are known, as they usually are. Rejects when there are none (a plug-in failed). */
  credentials(): Credentials | Promise<Credentials>;
  /** The server rejected these credentials with 401: the next `credentials()` gets new ones where possible. */
  rejected(credentials: Credentials): void;
}

const noCredentials: Credentials = { tls: {}, tlsKey: '', headers: {} };

/** An endpoint whose credentials never change; without any, the server is spoken to anonymously. */
export function fixedEndpoint(server: string, credentials: Credentials = noCredentials, proxyUrl?: string): Endpoint {
  return {
    server: server.replace(/\/+$/, ''),
    ...(proxyUrl !== undefined && { proxyUrl }),
    credentials: () => credentials,
    rejected: () => undefined,
  };
}
