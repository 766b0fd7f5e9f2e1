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

/** An answer without its functions, which cannot be sent to a thread. */
export interface SentAnswer extends Omit<Answer, 'stream'> {
  /** Texts of the same id follow until `streamEnd`. The thread reports `streamClosed` in the end, whatever happens. */
  readonly isStream?: true;
}

/** Messages to the thread. */
export type ToFront =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: SentAnswer }
  | { readonly kind: 'streamText'; readonly id: number; readonly text: string }
  | { readonly kind: 'streamEnd'; readonly id: number }
  | { readonly kind: 'tls'; readonly tls: FrontTls }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close'; readonly graceMs: number };

/** Messages from the thread. */
export type FromFront =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'unavailable'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'request'; readonly id: number; readonly request: ServedRequest }
  | { readonly kind: 'streamLagged' | 'streamClosed'; readonly id: number };
