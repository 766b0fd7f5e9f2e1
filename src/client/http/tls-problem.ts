import type { PeerCertificate } from 'node:tls';

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

const caRemedy = 'set or correct certificate-authority of the cluster in the kubeconfig';
const unknownCa = `the certificate of the server is signed by an unknown CA: ${caRemedy}`;

/** Error code of Node's verification -> what it means, and the remedy */
const verification: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `the certificate of the server is self-signed: ${caRemedy}`,
  SELF_SIGNED_CERT_IN_CHAIN: unknownCa,
  UNABLE_TO_GET_ISSUER_CERT: unknownCa,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownCa,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownCa,
  CERT_SIGNATURE_FAILURE: `the certificate of the server is not signed by the CA that it names: ${caRemedy}`,
  CERT_HAS_EXPIRED:
    'the certificate of the server or of its CA has expired: renew it, or correct the clock of this machine',
  CERT_NOT_YET_VALID: 'the certificate of the server or of its CA is not valid yet: correct the clock of this machine',
};

/** Returns what is wrong with the certificate of the server, if that is the error. */
function certificateProblem(error: Error): string | undefined {
  const { code = '', host, cert } = error as NodeJS.ErrnoException & { host?: string; cert?: PeerCertificate };
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return verification[code];
  const names = cert?.subjectaltname === undefined ? '' : ` (but for ${cert.subjectaltname})`;
  return `the certificate of the server is not for ${host}${names}: correct the server URL or tls-server-name in the kubeconfig`;
}

/** Explains a TLS alert, a server that does not speak TLS, or a certificate that cannot be trusted. Returns undefined for any other error. */
export function tlsProblem(error: unknown): TlsProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const untrusted = certificateProblem(error);
  if (untrusted !== undefined) return { message: untrusted, isRejection: true };
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
