import type { Answer } from '../route.ts';
import type { ServedRequest } from '../served-request.ts';

/** What the server's secure connections are made with. PEM. */
export interface FrontTls {
  readonly certificates: string;
  readonly key: string;
  /** Client certificates are verified against them; empty: against none, so that all are rejected. */
  readonly clientAuthorities: readonly string[];
}

/** What the thread is started with. */
export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  /** Whether others may listen on the port as well (SO_REUSEPORT). */
  readonly sharesPort: boolean;
  readonly tls: FrontTls;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In OpenSSL's words. Absent: Node's own choice. */
  readonly ciphers?: string;
  /** How long the thread that is asked may take to answer, in milliseconds, before the client is told that it does not. */
  readonly answerWithinMs: number;
}

/** To the thread. */
export type ToFront =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'tls'; readonly tls: FrontTls }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close'; readonly graceMs: number };

/** From the thread. */
export type FromFront =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'unavailable'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'request'; readonly id: number; readonly request: ServedRequest };
