import { get } from 'node:https';

/**
 * Reports whether a Kubernetes program is healthy on its own port. It signs its own certificate, so that is not verified. Rejects when
 * nothing listens.
 */
export function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/healthz',
      rejectUnauthorized: false,
      agent: false,
      timeout: 5_000,
    };
    const request = get(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy(new Error('no answer within 5 s')));
    request.once('error', reject);
  });
}
