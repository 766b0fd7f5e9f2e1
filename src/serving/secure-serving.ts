import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import { UserError } from '../base/user-error.ts';
import { ConnectionError, NotFoundError, TimeoutError } from '../client/api-errors.ts';
import { explainRejection } from '../client/access-denied-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { Logger } from '../observability/logger.ts';
import { authoritiesIn } from './access/client-authorities.ts';
import { DelegatedGuard } from './access/delegated-guard.ts';
import { Reviewer } from './access/reviewer.ts';
import { Followed } from './certificates/followed.ts';
import { provideCertificate } from './certificates/provide-certificate.ts';
import { readPemFile } from './certificates/read-pem-file.ts';
import { readServingCertificate } from './certificates/serving-certificate.ts';
import type { ServingCertificate } from './certificates/serving-certificate.ts';
import { Front } from './front/front.ts';
import type { FrontTls } from './front/front-messages.ts';
import { httpLimits } from './http-limits.ts';
import { RequestHandler } from './request-handler.ts';
import type { Route } from './route.ts';
import type { Serving } from './start-local-serving.ts';
import type { SecureServingOptions } from './secure-serving-options.ts';
import { opensslCiphers, tlsVersions } from './tls-settings.ts';

/** What there is beside the options. */
export interface SecureServingParts {
  /** Ask the API server who somebody is, and what they may do; with connections of their own. */
  readonly authentication: Pick<KubeClient, 'create' | 'get'>;
  readonly authorization: Pick<KubeClient, 'create'>;
  /** Of the process: `tutti-scheduler`. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The authorities of client certificates cannot be looked for, and that is not to be put up with. */
export class AuthenticationLookupError extends UserError {
  override readonly name = 'AuthenticationLookupError';
}

const fileEveryMs = 10_000;
const configMapEveryMs = 60_000;
const lookupTimeoutMs = 10_000;
const configMapPath = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const configMapKey = 'client-ca-file';

/**
 * Serves over HTTPS whom the API server lets in, as kube-scheduler does. Made before anything is started, so that what is wrong with
 * its files is said at once; certificates and authorities are followed as they change.
 */
export class SecureServing {
  readonly #options: SecureServingOptions;
  readonly #parts: SecureServingParts;
  readonly #followed: { start(): void; stop(): void }[] = [];
  #certificate: ServingCertificate;
  #authorities: readonly string[];
  #front: Front | undefined;

  private constructor(options: SecureServingOptions, parts: SecureServingParts, initial: Initial) {
    this.#options = options;
    this.#parts = parts;
    this.#certificate = initial.certificate;
    this.#authorities = initial.authorities ?? [];
  }

  /** Rejects with CertificateError, or with AuthenticationLookupError where failing lookups are not put up with. */
  static async prepare(options: SecureServingOptions, parts: SecureServingParts): Promise<SecureServing> {
    const { clock } = parts;
    const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile, certDir, bindAddress, clientCaFile } = options;
    const certificateOptions = {
      pairName: parts.name,
      bindAddress,
      ...(certFile !== undefined && { certFile }),
      ...(keyFile !== undefined && { keyFile }),
      ...(certDir !== undefined && { certDir }),
    };
    const { certificate, files } = await provideCertificate(certificateOptions, clock.now());
    const readAuthorities = async (file: string): Promise<readonly string[]> =>
      authoritiesIn(await readPemFile(file, '--client-ca-file'), '--client-ca-file', file);
    const authorities = clientCaFile === undefined ? undefined : await readAuthorities(clientCaFile);
    const serving = new SecureServing(options, parts, { certificate, authorities });
    if (files !== undefined) {
      serving.#follow({
        read: () => readServingCertificate(files, clock.now()),
        current: certificate,
        keyOf: ({ certificates, key }) => certificates + key,
        changed: (changed) => (serving.#certificate = changed),
        everyMs: fileEveryMs,
        what: 'the serving certificate',
      });
    }
    if (clientCaFile !== undefined) {
      serving.#follow({
        read: () => readAuthorities(clientCaFile),
        current: authorities,
        keyOf: (pems) => pems.join(),
        changed: (changed) => (serving.#authorities = changed),
        everyMs: fileEveryMs,
        what: 'the authorities of client certificates',
      });
    } else if (!options.authenticationSkipLookup) {
      await serving.#lookUpAuthorities();
    }
    return serving;
  }

  /** Rejects with PortUnavailableError. */
  async start(routes: readonly Route[]): Promise<Serving> {
    const { bindAddress: host, securePort, tlsMinVersion, tlsCipherSuites, permitPortSharing } = this.#options;
    const { clock, logger } = this.#parts;
    const handler = new RequestHandler({ routes, guard: this.#guard(), logger });
    const front = await Front.start({
      host,
      port: securePort,
      sharesPort: permitPortSharing,
      tls: this.#tls,
      minVersion: tlsVersions[tlsMinVersion],
      ...(tlsCipherSuites !== undefined && { ciphers: opensslCiphers(tlsCipherSuites) }),
      answerWithinMs: httpLimits.mainThreadMs,
      portFlag: '--secure-port',
      answer: (request) => handler.handle(request),
      clock,
      logger,
    });
    this.#front = front;
    for (const followed of this.#followed) followed.start();
    const url = `https://${reachable(host)}:${front.port}`;
    logger.info('serving over HTTPS', { url, paths: handler.paths });
    let closed: Promise<void> | undefined;
    return {
      url,
      drain: () => front.drain(),
      close: () => {
        this.stop();
        return (closed ??= front.close());
      },
    };
  }

  /** Follows nothing any more. */
  stop(): void {
    for (const followed of this.#followed) followed.stop();
  }

  get #tls(): FrontTls {
    return { ...this.#certificate, clientAuthorities: this.#authorities };
  }

  #guard(): DelegatedGuard {
    const options = this.#options;
    const { authentication, authorization, clock, logger } = this.#parts;
    const reviewer = new Reviewer({
      tokens: authentication,
      access: authorization,
      clock,
      tokenTtlMs: options.authenticationTokenWebhookCacheTtl,
      authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtl,
      unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtl,
    });
    return new DelegatedGuard({ reviewer, alwaysAllowPaths: options.authorizationAlwaysAllowPaths, logger });
  }

  /** Where kube-apiserver tells its extensions which authorities it takes itself. */
  async #lookUpAuthorities(): Promise<void> {
    const { authentication } = this.#parts;
    const followed = this.#follow({
      read: async () => {
        const { data } = await authentication
          .get<ConfigMap>(configMapPath, { timeoutMs: lookupTimeoutMs, lane: 'read' })
          .catch(noneWhenAbsent);
        const pem = data?.[configMapKey];
        return pem === undefined ? [] : authoritiesIn(pem, 'the ConfigMap', `extension-apiserver-authentication`);
      },
      current: this.#authorities,
      keyOf: (pems) => pems.join(),
      changed: (changed) => (this.#authorities = changed),
      everyMs: configMapEveryMs,
      what: 'the authorities of client certificates in kube-system/extension-apiserver-authentication',
    });
    if (this.#options.authenticationTolerateLookupFailure) {
      void followed.look(); // the API server need not be there for health to be served
      return;
    }
    await followed.look();
    if (followed.problem === undefined) return;
    throw new AuthenticationLookupError(
      'the authorities of client certificates cannot be looked up in kube-system/extension-apiserver-authentication ' +
        `(${followed.problem}): give the role extension-apiserver-authentication-reader, name them with --client-ca-file, ` +
        'or give --authentication-skip-lookup or --authentication-tolerate-lookup-failure',
    );
  }

  #follow<T>(options: FollowOptions<T>): Followed<T> {
    const { clock, logger } = this.#parts;
    const { what, changed, ...rest } = options;
    const followed = new Followed<T>({
      ...rest,
      clock,
      changed: (value) => {
        changed(value);
        this.#front?.setTls(this.#tls);
        logger.info('certificates have changed and are used from now on', { what });
      },
      failed: (error) => {
        const fields = { what, error: messageOf(explainRejection(error)) };
        const message = 'certificates cannot be read; those from before are used';
        // That the API server cannot be reached is said by whoever needs it more.
        if (error instanceof ConnectionError || error instanceof TimeoutError) logger.debug(message, fields);
        else logger.warn(message, fields);
      },
    });
    this.#followed.push(followed);
    return followed;
  }
}

/** In a URL on this machine: the address of all of them is none to ask. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

interface Initial {
  readonly certificate: ServingCertificate;
  readonly authorities: readonly string[] | undefined;
}

interface FollowOptions<T> {
  readonly read: () => Promise<T>;
  readonly current: T | undefined;
  readonly keyOf: (value: T) => string;
  readonly changed: (value: T) => void;
  readonly everyMs: number;
  /** For the log. */
  readonly what: string;
}

interface ConfigMap {
  readonly data?: Readonly<Record<string, string>>;
}

/** A cluster need not have any; then certificates prove nothing. */
function noneWhenAbsent(error: unknown): ConfigMap {
  if (error instanceof NotFoundError) return {};
  throw error;
}
