import { Buffer } from 'node:buffer';
import { stringify } from 'yaml';

/** How to be let in by a server that asks: kubectl sends a token only where it can verify whom it sends it to. */
export interface LocalCredentials {
  /** PEM: the server's own. */
  readonly certificate: string;
  readonly token: string;
}

/**
 * A kubeconfig, as YAML, for an API server on loopback. Without credentials: for one that speaks plain HTTP and knows no users. client-node
 * rejects plain HTTP unless verification is off, and applies nothing of a cluster without a user, so it has both.
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
