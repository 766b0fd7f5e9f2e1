import type { ExtenderTlsConfiguration } from './scheduler-configuration.ts';

/** Returns what is wrong with an extender's TLS configuration as a whole, as a text that follows the path of tlsConfig. */
export function tlsProblem(tls: ExtenderTlsConfiguration): string | undefined {
  const [ca, cert, key] = [tls.caData ?? tls.caFile, tls.certData ?? tls.certFile, tls.keyData ?? tls.keyFile];
  if (tls.insecure && ca !== undefined) {
    return 'must set insecure to false with caFile or caData, which verify the server';
  }
  if ((cert === undefined) !== (key === undefined)) return 'must have both a client certificate and its key';
  return undefined;
}
