import type { Buffer } from 'node:buffer';

/** TLS settings that verify the server and, with a client certificate, authenticate the client. Contents, not file names. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly pfx?: string | Buffer;
  readonly passphrase?: string;
  /** Only ever false, for `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

/** Credentials for a request. Two snapshots with the same `tlsKey` may share connections. */
export interface Credentials {
  readonly tls: TlsOptions;
  /** Identifies `tls`: it changes with every certificate, key or authority. */
  readonly tlsKey: string;
  /** Header names in lower case: authorization, impersonate-user. Each of several values is sent on its own line. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** Address of an API server and the credentials for it. The endpoint refreshes the credentials; the transport only requests them. */
export interface Endpoint {
  /** Scheme, host, port and an optional path prefix, without a trailing slash. */
  readonly server: string;
  readonly proxyUrl?: string;
  /**
   * Returns the current credentials, without a promise when they are known, as they usually are. Rejects if there are none (a
   * plugin failed).
   */
  credentials(): Credentials | Promise<Credentials>;
  /** Reports that the server rejected these credentials with 401: the next `credentials()` fetches new ones if possible. */
  rejected(credentials: Credentials): void;
}

const noCredentials: Credentials = { tls: {}, tlsKey: '', headers: {} };

/** Returns an endpoint whose credentials never change. By default it connects anonymously. */
export function fixedEndpoint(server: string, credentials: Credentials = noCredentials, proxyUrl?: string): Endpoint {
  return {
    server: server.replace(/\/+$/, ''),
    ...(proxyUrl !== undefined && { proxyUrl }),
    credentials: () => credentials,
    rejected: () => undefined,
  };
}
