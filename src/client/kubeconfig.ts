import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import type { User } from '@kubernetes/client-node';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import type { Credentials, Endpoint } from './endpoint.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { resolveKubeconfig } from './resolve-kubeconfig.ts';
import type { KubeconfigLocation, ResolvedKubeconfig } from './resolve-kubeconfig.ts';

export interface KubeconfigOptions extends KubeconfigLocation {
  readonly clock: Clock;
}

/** How long credentials are used before their files (or plug-in) are asked again, in milliseconds. */
const refreshAfterMs = 60_000;
/** After a refusal or failure, how soon new credentials may be fetched again, so that many calls start no storm of plug-ins. */
const leastRefreshGapMs = 5_000;

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
 * old, and before the next call when the server refused them. One refresh runs at a time, however many calls wait.
 */
export class KubeconfigEndpoint implements Endpoint {
  readonly #clock: Clock;
  readonly #load: () => Promise<ResolvedKubeconfig>;
  #resolved: ResolvedKubeconfig;
  #cached: Credentials | undefined;
  #fetchedAt = -Infinity;
  #refused = false;
  /** Why the last attempt gave nothing. */
  #failure: Error | undefined;
  #refreshing: Promise<Credentials> | undefined;

  constructor(clock: Clock, resolved: ResolvedKubeconfig, load: () => Promise<ResolvedKubeconfig>) {
    this.#clock = clock;
    this.#resolved = resolved;
    this.#load = load;
  }

  get server(): string {
    return this.#resolved.cluster.server;
  }

  get proxyUrl(): string | undefined {
    return this.#resolved.cluster.proxyUrl;
  }

  /** Where this came from, for messages and logs. */
  get source(): string {
    return this.#resolved.source;
  }

  get contextName(): string {
    return this.#resolved.context.name;
  }

  credentials(): Promise<Credentials> {
    const cached = this.#cached;
    const age = this.#clock.monotonic() - this.#fetchedAt;
    if (cached === undefined) {
      if (this.#failure !== undefined && age < leastRefreshGapMs) return Promise.reject(this.#failure);
      return this.#refresh();
    }
    const mayRefresh = age >= leastRefreshGapMs || this.#refreshing !== undefined;
    if (this.#refused && mayRefresh) return this.#refresh();
    if (age >= refreshAfterMs) {
      // The old ones serve until the new ones are there; a failure shows when the server refuses the old.
      this.#refresh().catch(() => undefined);
    }
    return Promise.resolve(cached);
  }

  refused(credentials: Credentials): void {
    if (credentials === this.#cached) this.#refused = true;
  }

  #refresh(): Promise<Credentials> {
    this.#refreshing ??= this.#fetch()
      .catch((error: unknown) => {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        throw this.#failure;
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #fetch(): Promise<Credentials> {
    this.#fetchedAt = this.#clock.monotonic();
    this.#failure = undefined;
    // A plug-in's own cache knows when its token expires, so only a refusal may throw it away; plain files are re-read.
    const hasPlugin = usesPlugin(this.#resolved.user);
    if (this.#cached !== undefined && (this.#refused || !hasPlugin)) this.#resolved = await this.#load();
    const fetched = await readCredentials(this.#resolved);
    this.#refused = false;
    const cached = this.#cached;
    if (cached?.tlsKey === fetched.tlsKey && sameHeaders(cached.headers, fetched.headers)) return cached;
    this.#cached = fetched;
    return fetched;
  }
}

function usesPlugin(user: User): boolean {
  return Boolean(user.exec) || Boolean(user.authProvider);
}

async function readCredentials(resolved: ResolvedKubeconfig): Promise<Credentials> {
  const applied: RequestOptions = {};
  try {
    await resolved.config.applyToHTTPSOptions(applied);
  } catch (cause) {
    const who = usesPlugin(resolved.user) ? 'its credential plug-in' : 'a certificate or token';
    throw new KubeconfigError(
      `${resolved.source}: no credentials for user "${resolved.user.name}" (${who}): ${messageOf(cause)}`,
      { cause },
    );
  }
  const headers: Record<string, string> = {};
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
  return { tls: tls, tlsKey: hash.digest('hex'), headers };
}

function sameHeaders(a: Credentials['headers'], b: Credentials['headers']): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
