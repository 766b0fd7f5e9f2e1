import { Buffer } from 'node:buffer';
import { stringify } from 'yaml';

/** Credentials for a server that requires them. kubectl sends a token only to a server that it can verify. */
export interface LocalCredentials {
  /** The server's own certificate, in PEM. */
  readonly certificate: string;
  readonly token: string;
}

/**
 * Returns a kubeconfig, as YAML, for an API server on loopback. Omit the credentials for a server that speaks plain HTTP without
 * users. client-node rejects plain HTTP unless verification is off, and ignores a cluster without a user, so the kubeconfig has
 * both.
 */
export function localKubeconfig(server: string, credentials?: LocalCredentials): string {
  const trust =
    credentials === undefined
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': Buffer.from(credentials.certificate).toString('base64') };
  const user = credentials === undefined ? {} : { token: credentials.token };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tutti', cluster: { server, ...trust } }],
    users: [{ name: 'tutti', user }],
    contexts: [{ name: 'tutti', context: { cluster: 'tutti', user: 'tutti', namespace: 'default' } }],
    'current-context': 'tutti',
  });
}
