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
import { PolledValue } from './certificates/polled-value.ts';
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

/** The dependencies of secure serving. */
export interface SecureServingParts {
  /** Clients for token and access reviews, on separate connections. */
  readonly authentication: Pick<KubeClient, 'create' | 'get'>;
  readonly authorization: Pick<KubeClient, 'create'>;
  /** Name of the process: `tutti-scheduler`. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The lookup of the client CA failed, and the options do not tolerate that. */
export class AuthenticationLookupError extends UserError {
  override readonly name = 'AuthenticationLookupError';
}

const fileEveryMs = 10_000;
const configMapEveryMs = 60_000;
const lookupTimeoutMs = 10_000;
const configMapPath = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const configMapKey = 'client-ca-file';

/**
 * Serves over HTTPS with delegated authentication and authorization, as kube-scheduler does. `prepare` runs before anything else
 * starts, so that an unusable file is reported at once. Changed certificates and CAs are reloaded.
 */
export class SecureServing {
  readonly #options: SecureServingOptions;
  readonly #parts: SecureServingParts;
  readonly #polled: { start(): void; stop(): void }[] = [];
  #certificate: ServingCertificate;
  #authorities: readonly string[];
  #front: Front | undefined;

  private constructor(options: SecureServingOptions, parts: SecureServingParts, initial: Initial) {
    this.#options = options;
    this.#parts = parts;
    this.#certificate = initial.certificate;
    this.#authorities = initial.authorities ?? [];
  }

  /** Rejects with CertificateError, or with AuthenticationLookupError if the lookup fails and the options do not tolerate that. */
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
      serving.#pollValue({
        read: () => readServingCertificate(files, clock.now()),
        current: certificate,
        keyOf: ({ certificates, key }) => certificates + key,
        changed: (changed) => (serving.#certificate = changed),
        everyMs: fileEveryMs,
        what: 'the serving certificate',
      });
    }
    if (clientCaFile !== undefined) {
      serving.#pollValue({
        read: () => readAuthorities(clientCaFile),
        current: authorities,
        keyOf: (pems) => pems.join(),
        changed: (changed) => (serving.#authorities = changed),
        everyMs: fileEveryMs,
        what: 'the client CA',
      });
    } else if (!options.authenticationSkipLookup) {
      await serving.#lookUpClientCa();
    }
    return serving;
  }

  /** Starts serving. Rejects with PortUnavailableError. */
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
    for (const polled of this.#polled) polled.start();
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

  /** Stops reloading certificates and CAs. */
  stop(): void {
    for (const polled of this.#polled) polled.stop();
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

  /** Looks up the client CA in the ConfigMap that kube-apiserver publishes for extension API servers. */
  async #lookUpClientCa(): Promise<void> {
    const { authentication } = this.#parts;
    const polled = this.#pollValue({
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
      what: 'the client CA in kube-system/extension-apiserver-authentication',
    });
    if (this.#options.authenticationTolerateLookupFailure) {
      void polled.poll(); // health endpoints must work without the API server
      return;
    }
    await polled.poll();
    if (polled.problem === undefined) return;
    throw new AuthenticationLookupError(
      'cannot look up the client CA in kube-system/extension-apiserver-authentication ' +
        `(${polled.problem}): grant the role extension-apiserver-authentication-reader, set --client-ca-file, ` +
        'or set --authentication-skip-lookup or --authentication-tolerate-lookup-failure',
    );
  }

  #pollValue<T>(options: PollOptions<T>): PolledValue<T> {
    const { clock, logger } = this.#parts;
    const { what, changed, ...rest } = options;
    const polled = new PolledValue<T>({
      ...rest,
      clock,
      changed: (value) => {
        changed(value);
        this.#front?.setTls(this.#tls);
        logger.info('using changed certificates', { what });
      },
      failed: (error) => {
        const fields = { what, error: messageOf(explainRejection(error)) };
        const message = 'cannot read certificates; keeping the previous ones';
        // Components that depend on the API server already log that it is unreachable.
        if (error instanceof ConnectionError || error instanceof TimeoutError) logger.debug(message, fields);
        else logger.warn(message, fields);
      },
    });
    this.#polled.push(polled);
    return polled;
  }
}

/** Returns the host for a URL on this machine; the unspecified address becomes loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

interface Initial {
  readonly certificate: ServingCertificate;
  readonly authorities: readonly string[] | undefined;
}

interface PollOptions<T> {
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

/** A cluster may have no such ConfigMap; then certificates prove nothing. */
function noneWhenAbsent(error: unknown): ConfigMap {
  if (error instanceof NotFoundError) return {};
  throw error;
}
