/** A failure of TLS, in words for users. */
export interface TlsProblem {
  readonly message: string;
  /** Whether the server rejected the connection before it read a request. */
  readonly isRejection: boolean;
}

/** Alerts about the certificate of the client. With TLS 1.3 they arrive after the handshake, but before the server reads a request. */
const aboutCertificate: Readonly<Record<number, string>> = {
  42: 'the server cannot use the client certificate',
  43: 'the server does not support this type of client certificate',
  44: 'the client certificate is revoked',
  45: 'the client certificate has expired',
  46: 'the server does not accept the client certificate',
  48: 'the server does not trust the CA of the client certificate',
  49: 'the server denies access to the owner of the client certificate',
  116: 'the server requires a client certificate: set client-certificate and client-key of the user in the kubeconfig',
};

/** Other alerts that users can cause. */
const others: Readonly<Record<number, string>> = {
  40: 'client and server have no TLS settings in common, or the server requires a client certificate',
  70: 'the server does not support the TLS versions of this client (1.2 and 1.3)',
  71: 'the server requires stronger ciphers than this client has',
  80: 'the server reports an internal error',
  112: 'the server does not know the host name: correct the server URL or tls-server-name in the kubeconfig',
};

/** Error code of Node's verification -> what it means */
const verification: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the server is signed by an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate of the server is signed by an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the server is signed by an unknown CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the server is signed by an unknown CA',
  CERT_SIGNATURE_FAILURE: 'the certificate of the server is not signed by the CA that it names',
};
const caRemedy = 'correct certificate-authority of the cluster in the kubeconfig';

/** Explains a TLS alert, a server that does not speak TLS, or a certificate of an unknown CA. Returns undefined for any other error. */
export function tlsProblem(error: unknown): TlsProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const untrusted = verification[(error as NodeJS.ErrnoException).code ?? ''];
  if (untrusted !== undefined) return { message: `${untrusted}: ${caRemedy}`, isRejection: true };
  const number = /SSL alert number (\d+)/.exec(error.message)?.[1];
  if (number !== undefined) {
    const certificate = aboutCertificate[Number(number)];
    const what = certificate ?? others[Number(number)] ?? 'the server ended the TLS connection';
    return { message: `${what} (TLS alert ${number})`, isRejection: certificate !== undefined };
  }
  if (!/:SSL routines:[^:]*:(?:wrong version number|packet length too long|http request)/.test(error.message)) {
    return undefined;
  }
  return {
    message: 'the server does not speak TLS on this port: correct the server URL in the kubeconfig',
    isRejection: true,
  };
}
