/** The certificate that a client showed when it connected; verified against the authorities that the server had then. */
export type ClientCertificate =
  | { readonly isVerified: true; readonly commonName: string; readonly organizations: readonly string[] }
  | { readonly isVerified: false; readonly problem: string };

/** A request that got past the limits of the server: all that is ever read of it. */
export interface ServedRequest {
  readonly method: 'GET' | 'HEAD';
  /** As it was sent, without the query: begins with a slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Where it came from. */
  readonly address: string;
  /** The header of that name. */
  readonly authorization?: string;
  readonly certificate?: ClientCertificate;
}
