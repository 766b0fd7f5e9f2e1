import type { Answer } from '../route.ts';
import type { ServedRequest } from '../served-request.ts';

/** TLS settings of the server, in PEM. */
export interface FrontTls {
  readonly certificates: string;
  readonly key: string;
  /** CAs that verify client certificates; empty: every client certificate is rejected. */
  readonly clientAuthorities: readonly string[];
}

/** Start options of the serving thread. */
export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port (SO_REUSEPORT). */
  readonly sharesPort: boolean;
  readonly tls: FrontTls;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In OpenSSL's notation. Absent: Node's defaults. */
  readonly ciphers?: string;
  /** How long the main thread may take to respond, in milliseconds, before the client gets an error. */
  readonly answerWithinMs: number;
}

/** Messages to the thread. */
export type ToFront =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'tls'; readonly tls: FrontTls }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close'; readonly graceMs: number };

/** Messages from the thread. */
export type FromFront =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'unavailable'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'request'; readonly id: number; readonly request: ServedRequest };
