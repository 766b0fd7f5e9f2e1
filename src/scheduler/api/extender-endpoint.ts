import { Buffer } from 'node:buffer';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../base/message-of.ts';
import { fixedEndpoint } from '../../client/endpoint.ts';
import type { Endpoint, TlsOptions } from '../../client/endpoint.ts';
import { proxyOfEnvironment } from '../../client/proxy-of-environment.ts';
import type { ExtenderConfiguration, ExtenderTlsConfiguration } from '../../config/scheduler-configuration.ts';
import { tlsProblem } from '../../config/tls-problem.ts';
import { ExtenderConfigurationError } from './extender-configuration-error.ts';

export interface ExtenderEndpoint {
  /** The URL without credentials. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** The server's certificate is not verified. */
  readonly isUnverified: boolean;
}

/**
 * Resolves the address, TLS options and proxy of an extender by kube-scheduler's rules. The URL's scheme decides whether TLS is used. With
 * enableHTTPS and without a CA, the server's certificate is not verified. The proxy comes from the environment. Rejects with
 * ExtenderConfigurationError; `place` is the field.
 */
export async function extenderEndpoint(
  { urlPrefix, enableHttps, tls }: ExtenderConfiguration,
  place: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ExtenderEndpoint> {
  const url = parseUrl(urlPrefix, place);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const options = await tlsOptions(tls, enableHttps, `${place}.tlsConfig`);
  const name = url.href.replace(/\/+$/, '');
  const proxyUrl = proxyFor(url, environment, place);
  const headers: Record<string, string> = {};
  if (username !== '') {
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers.authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  return {
    name,
    endpoint: fixedEndpoint(name, { tls: options, tlsKey: '', headers }, proxyUrl),
    isUnverified: url.protocol === 'https:' && options.rejectUnauthorized === false,
  };
}

function proxyFor(
  url: URL,
  environment: Readonly<Record<string, string | undefined>>,
  place: string,
): string | undefined {
  try {
    return proxyOfEnvironment(url, environment);
  } catch (cause) {
    throw new ExtenderConfigurationError(`${place}.urlPrefix: ${messageOf(cause)}`, { cause });
  }
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

/** Validates the TLS files first, because the error of a failed handshake does not name a field. */
async function tlsOptions(
  tls: ExtenderTlsConfiguration | undefined,
  enableHttps: boolean,
  place: string,
): Promise<TlsOptions> {
  const problem = tls === undefined ? undefined : tlsProblem(tls);
  if (problem !== undefined) throw new ExtenderConfigurationError(`${place} ${problem}`);
  const [ca, cert, key] = await Promise.all([
    contentOf(tls?.caData, tls?.caFile, `${place}.caFile`),
    contentOf(tls?.certData, tls?.certFile, `${place}.certFile`),
    contentOf(tls?.keyData, tls?.keyFile, `${place}.keyFile`),
  ]);
  const fieldOf = (name: 'ca' | 'cert' | 'key'): string =>
    tls?.[`${name}Data`] === undefined ? `${name}File` : `${name}Data`;
  for (const [name, certificates] of [
    ['ca', ca],
    ['cert', cert],
  ] as const) {
    if (certificates === undefined) continue;
    // TLS itself would silently skip certificates that it cannot parse.
    mustBe(`${place}.${fieldOf(name)} must contain PEM certificates`, () => new X509Certificate(certificates));
  }
  if (cert !== undefined && key !== undefined) {
    mustBe(`${place}.${fieldOf('key')} must contain a PEM private key without a passphrase`, () =>
      createPrivateKey(key),
    );
    mustBe(`${place}.${fieldOf('key')} must match the certificate in ${fieldOf('cert')}`, () =>
      createSecureContext({ cert, key }),
    );
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

function mustBe(what: string, use: () => unknown): void {
  try {
    use();
  } catch (cause) {
    throw new ExtenderConfigurationError(`${what}: ${messageOf(cause)}`, { cause });
  }
}

/** Inline data takes precedence over the file. */
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
    throw new ExtenderConfigurationError(`${place} must be a readable file: ${why}`, { cause });
  }
}
