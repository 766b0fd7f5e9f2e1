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
  /** The URL without what is secret in it. */
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Nobody checks that the server is who it says. */
  readonly isUnverified: boolean;
}

/**
 * Where an extender is and how to be let in, by kube-scheduler's rules: the URL's scheme decides about TLS, and with enableHTTPS but
 * without an authority the server's certificate is not verified; a proxy is the one that the environment names. Rejects with ExtenderConfigurationError; `place` is the field.
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

/** What it rejects with names the field and what would be right: a handshake would only say that it failed. */
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
    // TLS itself would pass over authorities that it cannot read.
    mustBe(`${place}.${fieldOf(name)} must be certificates in PEM`, () => new X509Certificate(certificates));
  }
  if (cert !== undefined && key !== undefined) {
    mustBe(`${place}.${fieldOf('key')} must be a private key in PEM, without a passphrase`, () =>
      createPrivateKey(key),
    );
    mustBe(`${place}.${fieldOf('key')} must be the key of the certificate in ${fieldOf('cert')}`, () =>
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
