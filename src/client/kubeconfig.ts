import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import { toError } from '../base/to-error.ts';
import { fileProblem } from './cluster-authority.ts';
import type { Credentials, Endpoint } from './endpoint.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { resolveKubeconfig } from './resolve-kubeconfig.ts';
import type { KubeconfigLocation, ResolvedKubeconfig } from './resolve-kubeconfig.ts';

export interface KubeconfigOptions extends KubeconfigLocation {
  readonly clock: Clock;
}

/** Time after which credentials are read again from their files or plugin, in milliseconds. */
const refreshAfterMs = 60_000;
/**
 * Wait after a rejection or failure before credentials are fetched again, so that many calls cannot start many plugin runs.
 * Doubles after each further failure.
 */
const refreshGap = { initialMs: 5_000, maxMs: 60_000 };
/** Time limit to fetch credentials from any source, in milliseconds. A plugin has less. */
const fetchDeadlineMs = 40_000;

/**
 * Finds and reads the kubeconfig and returns the endpoint of its context. Rejects with KubeconfigError. It opens no connection,
 * and reads no client certificates: `credentials()` does that.
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<KubeconfigEndpoint> {
  const load = (): Promise<ResolvedKubeconfig> => resolveKubeconfig(options);
  return new KubeconfigEndpoint(options.clock, await load(), load);
}
/**
 * The endpoint of one kubeconfig context. It caches credentials. It refreshes them in the background once they are a minute old,
 * and before the next call if the server rejected them. Only one refresh runs at a time, for all waiting calls.
 */
export class KubeconfigEndpoint implements Endpoint {
  readonly #clock: Clock;
  readonly #load: () => Promise<ResolvedKubeconfig>;
  #resolved: ResolvedKubeconfig;
  /** The plugin of `#resolved`. */
  #plugin: ExecPlugin | undefined;
  #cached: Credentials | undefined;
  #fetchedAt = -Infinity;
  #rejected = false;
  /** As Clock.now(). */
  #expiresAt = Infinity;
  /** Number of consecutive failed fetches. */
  #failures = 0;
  /** Error of the last fetch, if it failed. */
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

  /** Source of the kubeconfig, for messages and logs. */
  get source(): string {
    return this.#resolved.source;
  }

  get contextName(): string {
    return this.#resolved.context.name;
  }

  /** Namespace of the context; undefined: it names none. */
  get namespace(): string | undefined {
    return this.#resolved.context.namespace;
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
      // The old credentials stay in use until the new ones arrive. If the refresh fails, the server's rejection of the old ones
      // shows it.
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

  /** Limits the time of a fetch: a source that hangs must not block all calls. */
  #inTime(fetched: Promise<Credentials>): Promise<Credentials> {
    return new Promise((resolve, reject) => {
      const { source, user } = this.#resolved;
      const timer = this.#clock.setTimer(fetchDeadlineMs, () => {
        const what = `no credentials for user "${user.name}" within ${fetchDeadlineMs / 1000} s`;
        reject(new KubeconfigError(`${source}: ${what}: their source does not respond`));
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
    // A plugin knows when its token expires, so only a rejection discards its cache. Plain files are read again.
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
  let from = user.authProvider ? 'its auth-provider' : 'a certificate or token';
  let expiresAt = Infinity;
  try {
    await config.applyToHTTPSOptions(applied);
    if (plugin !== undefined) {
      from = 'its credential plugin';
      const { token, certificate, expiresAt: until = Infinity } = await plugin.credential();
      if (token !== undefined) applied.headers = { ...applied.headers, authorization: `Bearer ${token}` };
      Object.assign(applied, certificate);
      expiresAt = until;
    }
  } catch (cause) {
    const { path } = cause as NodeJS.ErrnoException;
    const fields = { 'client-certificate': user.certFile, 'client-key': user.keyFile };
    const [field] = Object.entries(fields).find(([, file]) => file !== undefined && file === path) ?? [];
    const why = field === undefined ? ` (${from}): ${messageOf(cause)}` : `: ${field} ${path} ${fileProblem(cause)}`;
    throw new KubeconfigError(`${source}: no credentials for user "${user.name}"${why}`, { cause });
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
