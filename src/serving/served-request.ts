/** The certificate that a client sent when it connected, verified against the CAs of that time. */
export type ClientCertificate =
  | { readonly isVerified: true; readonly commonName: string; readonly organizations: readonly string[] }
  | { readonly isVerified: false; readonly problem: string };

/** The parts of an accepted request that are read. */
export interface ServedRequest {
  readonly method: 'GET' | 'HEAD';
  /** As sent, without the query; starts with a slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Remote address. */
  readonly address: string;
  /** The authorization header. */
  readonly authorization?: string;
  /** The header of a client that resumes a stream of server-sent events. */
  readonly lastEventId?: string;
  readonly certificate?: ClientCertificate;
}
