import type { ExtenderTlsConfiguration } from './scheduler-configuration.ts';

/** What is wrong with the certificates of an extender together, as it follows the path of tlsConfig. */
export function tlsProblem(tls: ExtenderTlsConfiguration): string | undefined {
  const [ca, cert, key] = [tls.caData ?? tls.caFile, tls.certData ?? tls.certFile, tls.keyData ?? tls.keyFile];
  if (tls.insecure && ca !== undefined) {
    return 'must have insecure: false beside caFile or caData, which verify the server';
  }
  if ((cert === undefined) !== (key === undefined)) return 'must have a client certificate and its key together';
  return undefined;
}
