import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import { toError } from '../base/to-error.ts';
import type { Credentials, Endpoint } from './endpoint.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { resolveKubeconfig } from './resolve-kubeconfig.ts';
import type { KubeconfigLocation, ResolvedKubeconfig } from './resolve-kubeconfig.ts';

export interface KubeconfigOptions extends KubeconfigLocation {
  readonly clock: Clock;
}

/** How long credentials are used before their files (or plug-in) are asked again, in milliseconds. */
const refreshAfterMs = 60_000;
/** After a rejection or failure, how soon new credentials may be fetched again, so that many calls start no storm of plug-ins; twice as long after each further failure. */
const refreshGap = { initialMs: 5_000, maxMs: 60_000 };
/** How long getting credentials may take, in milliseconds, whoever has to be asked. A plug-in is given less. */
const fetchDeadlineMs = 40_000;

/**
 * Finds and reads the kubeconfig and answers the endpoint of its context. Rejects with KubeconfigError. Certificates and
 * tokens are first read by `credentials()`; nothing is connected to.
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<KubeconfigEndpoint> {
  const load = (): Promise<ResolvedKubeconfig> => resolveKubeconfig(options);
  return new KubeconfigEndpoint(options.clock, await load(), load);
}

/**
 * The endpoint of one kubeconfig context. Credentials are cached: refreshed in the background once they are a minute
 * old, and before the next call when the server rejected them. One refresh runs at a time, however many calls wait.
 */
export class KubeconfigEndpoint implements Endpoint {
  readonly #clock: Clock;
  readonly #load: () => Promise<ResolvedKubeconfig>;
  #resolved: ResolvedKubeconfig;
  /** That of `#resolved`. */
  #plugin: ExecPlugin | undefined;
  #cached: Credentials | undefined;
  #fetchedAt = -Infinity;
  #rejected = false;
  /** As Clock.now(). */
  #expiresAt = Infinity;
  /** Fetches that failed in a row. */
  #failures = 0;
  /** Why the last attempt gave nothing. */
  #failure: Error | undefined;
  #refreshing: Promise<Credentials> | undefined;

  constructor(clock: Clock, resolved: ResolvedKubeconfig, load: () => Promise<ResolvedKubeconfig>) {
    this.#clock = clock;
    this.#resolved = resolved;
    this.#plugin = this.#pluginOf(resolved);
    this.#load = load;
  }

  get server(): string {
    return this.#resolved.cluster.server;
  }

  get proxyUrl(): string | undefined {
    return this.#resolved.proxyUrl;
  }

  /** Where this came from, for messages and logs. */
  get source(): string {
    return this.#resolved.source;
  }

  get contextName(): string {
    return this.#resolved.context.name;
  }

  credentials(): Credentials | Promise<Credentials> {
    const cached = this.#cached;
    const age = this.#clock.monotonic() - this.#fetchedAt;
    if (cached === undefined) {
      if (this.#failure !== undefined && age < this.#gapMs) return Promise.reject(this.#failure);
      return this.#refresh();
    }
    const mayRefresh = age >= this.#gapMs || this.#refreshing !== undefined;
    const isUsedUp = this.#rejected || this.#clock.now() >= this.#expiresAt;
    if (isUsedUp && mayRefresh) return this.#refresh();
    if (age >= refreshAfterMs) {
      // The old ones serve until the new ones are there; a failure shows when the server rejects the old.
      this.#refresh().catch(() => undefined);
    }
    return cached;
  }

  rejected(credentials: Credentials): void {
    if (credentials === this.#cached) this.#rejected = true;
  }

  get #gapMs(): number {
    return backoffDelay(refreshGap, Math.max(1, this.#failures));
  }

  #refresh(): Promise<Credentials> {
    this.#refreshing ??= this.#inTime(this.#fetch())
      .catch((error: unknown) => {
        this.#failures++;
        this.#failure = toError(error);
        throw this.#failure;
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** Whoever is asked may hang: that must not be the end of all calls. */
  #inTime(fetched: Promise<Credentials>): Promise<Credentials> {
    return new Promise((resolve, reject) => {
      const { source, user } = this.#resolved;
      const timer = this.#clock.setTimer(fetchDeadlineMs, () => {
        const what = `no credentials for user "${user.name}" within ${fetchDeadlineMs / 1000} s`;
        reject(new KubeconfigError(`${source}: ${what}: whoever was asked for them does not answer`));
      });
      fetched.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  #pluginOf({ source, user, extras }: ResolvedKubeconfig): ExecPlugin | undefined {
    const { exec: config, clusterInfo: cluster } = extras;
    if (config === undefined) return undefined;
    try {
      return new ExecPlugin({ config, cluster, clock: this.#clock });
    } catch (cause) {
      throw new KubeconfigError(`${source}: user "${user.name}": ${messageOf(cause)}`, { cause });
    }
  }

  async #fetch(): Promise<Credentials> {
    this.#fetchedAt = this.#clock.monotonic();
    this.#failure = undefined;
    // A plug-in's own cache knows when its token expires, so only a rejection may throw it away; plain files are re-read.
    const hasPlugin = this.#plugin !== undefined || Boolean(this.#resolved.user.authProvider);
    if (this.#cached !== undefined && (this.#rejected || !hasPlugin)) {
      this.#resolved = await this.#load();
      this.#plugin = this.#pluginOf(this.#resolved);
    }
    const { expiresAt, ...fetched } = await readCredentials(this.#resolved, this.#plugin);
    this.#rejected = false;
    this.#failures = 0;
    this.#expiresAt = expiresAt;
    const cached = this.#cached;
    if (cached?.tlsKey === fetched.tlsKey && sameHeaders(cached.headers, fetched.headers)) return cached;
    this.#cached = fetched;
    return fetched;
  }
}

async function readCredentials(
  { config, source, user, extras }: ResolvedKubeconfig,
  plugin: ExecPlugin | undefined,
): Promise<Credentials & { readonly expiresAt: number }> {
  const applied: RequestOptions = {};
  let who = user.authProvider ? 'its auth-provider' : 'a certificate or token';
  let expiresAt = Infinity;
  try {
    await config.applyToHTTPSOptions(applied);
    if (plugin !== undefined) {
      who = 'its credential plug-in';
      const { token, certificate, expiresAt: until = Infinity } = await plugin.credential();
      if (token !== undefined) applied.headers = { ...applied.headers, authorization: `Bearer ${token}` };
      Object.assign(applied, certificate);
      expiresAt = until;
    }
  } catch (cause) {
    throw new KubeconfigError(`${source}: no credentials for user "${user.name}" (${who}): ${messageOf(cause)}`, {
      cause,
    });
  }
  const headers: Record<string, string | readonly string[]> = { ...extras.impersonation };
  if (typeof applied.auth === 'string') headers.authorization = `Basic ${btoa(applied.auth)}`;
  for (const [name, value] of Object.entries(applied.headers ?? {})) headers[name.toLowerCase()] = String(value);
  const tls: Record<string, unknown> = {};
  for (const name of ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const) {
    if (applied[name] !== undefined) tls[name] = applied[name];
  }
  const hash = createHash('sha256');
  for (const [name, value] of Object.entries(tls)) {
    hash
      .update(`${name}:`)
      .update(value instanceof Uint8Array ? value : String(value))
      .update(';');
  }
  return { tls, tlsKey: hash.digest('hex'), headers, expiresAt };
}

function sameHeaders(a: Credentials['headers'], b: Credentials['headers']): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => String(a[name]) === String(b[name]));
}
