import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../base/message-of.ts';
import { fixedEndpoint } from '../../client/endpoint.ts';
import type { Endpoint, TlsOptions } from '../../client/endpoint.ts';
import type { ExtenderConfiguration, ExtenderTlsConfiguration } from '../../config/scheduler-configuration.ts';
import { ExtenderConfigurationError } from './extender-configuration-error.ts';

export interface ExtenderEndpoint {
  /** The URL without what is secret in it. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Nobody checks that the server is who it says. */
  readonly isUnverified: boolean;
}

/**
 * Where an extender is and how to be let in, by kube-scheduler's rules: the URL's scheme decides about TLS, and with enableHTTPS but
 * without an authority the server's certificate is not verified. Rejects with ExtenderConfigurationError; `place` is the field.
 */
export async function extenderEndpoint(
  { urlPrefix, enableHttps, tls }: ExtenderConfiguration,
  place: string,
): Promise<ExtenderEndpoint> {
  const url = parseUrl(urlPrefix, place);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const options = await tlsOptions(tls, enableHttps, `${place}.tlsConfig`);
  const name = url.href.replace(/\/+$/, '');
  const headers: Record<string, string> = {};
  if (username !== '') {
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers.authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  return {
    name,
    endpoint: fixedEndpoint(name, { tls: options, tlsKey: '', headers }),
    isUnverified: url.protocol === 'https:' && options.rejectUnauthorized === false,
  };
}

function parseUrl(text: string, place: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ExtenderConfigurationError(
      `${place}.urlPrefix must be a URL such as https://127.0.0.1:8443/scheduler, not "${text}"`,
    );
  }
  return url;
}

async function tlsOptions(
  tls: ExtenderTlsConfiguration | undefined,
  enableHttps: boolean,
  place: string,
): Promise<TlsOptions> {
  const [ca, cert, key] = await Promise.all([
    contentOf(tls?.caData, tls?.caFile, `${place}.caFile`),
    contentOf(tls?.certData, tls?.certFile, `${place}.certFile`),
    contentOf(tls?.keyData, tls?.keyFile, `${place}.keyFile`),
  ]);
  if (tls?.insecure === true && ca !== undefined) {
    throw new ExtenderConfigurationError(
      `${place}: insecure must be false beside caFile or caData, which verify the server`,
    );
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new ExtenderConfigurationError(`${place}: a client certificate and its key must be given together`);
  }
  const isInsecure = tls?.insecure === true || (enableHttps && ca === undefined);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls?.serverName !== undefined && { servername: tls.serverName }),
    ...(isInsecure && { rejectUnauthorized: false }),
  };
}

/** What is given itself goes before the file. */
async function contentOf(
  base64: string | undefined,
  file: string | undefined,
  place: string,
): Promise<Buffer | undefined> {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  if (file === undefined) return undefined;
  try {
    return await readFile(file);
  } catch (cause) {
    const why = messageOf(cause);
    throw new ExtenderConfigurationError(`${place} must be a file that can be read: ${why}`, { cause });
  }
}
