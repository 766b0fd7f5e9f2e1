import { stringify } from 'yaml';

/**
 * A kubeconfig, as YAML, for an API server on loopback that speaks plain HTTP and knows no users. client-node refuses plain HTTP
 * unless verification is off, and applies nothing of a cluster without a user, so it has both.
 */
export function localKubeconfig(server: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tutti', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'tutti', user: {} }],
    contexts: [{ name: 'tutti', context: { cluster: 'tutti', user: 'tutti', namespace: 'default' } }],
    'current-context': 'tutti',
  });
}
