import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node';
import type { Clock } from '../base/clock.ts';
import type { Credentials, Endpoint, TlsOptions } from './endpoint.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

export interface KubeconfigOptions {
  readonly clock: Clock;
  /** `--kubeconfig`. Absent: the files of KUBECONFIG, else ~/.kube/config, else the service account of the pod. */
  readonly path?: string;
  /** Absent: the kubeconfig's current-context. */
  readonly context?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory?: string;
}

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** How long credentials are used before their files (or plug-in) are asked again, in milliseconds. */
const refreshAfterMs = 60_000;
/** After a refusal, how soon new credentials may be fetched again, so that a 401 for every call starts no storm of plug-ins. */
const leastRefreshGapMs = 5_000;

/**
 * Finds and reads the kubeconfig and answers the endpoint of its context. Rejects with KubeconfigError. Certificates and
 * tokens are first read by `credentials()`; nothing is connected to.
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<KubeconfigEndpoint> {
  const load = (): Promise<ResolvedKubeconfig> => resolve(options);
  return new KubeconfigEndpoint(options.clock, await load(), load);
}

interface ResolvedKubeconfig {
  /** For messages: the file names, or `in-cluster service account`. */
  readonly source: string;
  /** Holds exactly the one cluster, user and context that are used. */
  readonly config: KubeConfig;
  readonly cluster: Cluster;
  readonly user: User;
  readonly context: Context;
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

  /** The context's namespace; `default` when it names none. */
  get namespace(): string {
    return this.#resolved.context.namespace ?? 'default';
  }

  credentials(): Promise<Credentials> {
    const cached = this.#cached;
    const age = this.#clock.monotonic() - this.#fetchedAt;
    if (cached === undefined) return this.#refresh();
    if (this.#refused && age >= leastRefreshGapMs) return this.#refresh();
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
    this.#refreshing ??= this.#fetch().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #fetch(): Promise<Credentials> {
    // A plug-in's own cache knows when its token expires, so only a refusal may throw it away; plain files are re-read.
    const { exec, authProvider } = this.#resolved.user;
    const hasPlugin = Boolean(exec ?? authProvider);
    if (this.#cached !== undefined && (this.#refused || !hasPlugin)) this.#resolved = await this.#load();
    this.#fetchedAt = this.#clock.monotonic();
    const fetched = await readCredentials(this.#resolved);
    this.#refused = false;
    const cached = this.#cached;
    if (cached?.tlsKey === fetched.tlsKey && sameHeaders(cached.headers, fetched.headers)) return cached;
    this.#cached = fetched;
    return fetched;
  }
}

async function readCredentials(resolved: ResolvedKubeconfig): Promise<Credentials> {
  const applied: RequestOptions = {};
  try {
    await resolved.config.applyToHTTPSOptions(applied);
  } catch (cause) {
    const who = resolved.user.exec || resolved.user.authProvider ? 'its credential plug-in' : 'a certificate or token';
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
    hash.update(`${name}:`).update(value instanceof Uint8Array ? value : String(value)).update(';');
  }
  return { tls: tls as TlsOptions, tlsKey: hash.digest('hex'), headers };
}

async function resolve(options: KubeconfigOptions): Promise<ResolvedKubeconfig> {
  // Loaded late: the package costs half a second, which commands that need no cluster should not pay.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const { source, found } = find(options, () => new KubeConfig());
  const contextName = options.context ?? found.getCurrentContext();
  const contextNames = found.getContexts().map((each) => each.name);
  const known = contextNames.length === 0 ? 'it has none' : `it has ${contextNames.join(', ')}`;
  if (!contextName) {
    throw new KubeconfigError(`${source} has no current-context: set one with kubectl config use-context (${known})`);
  }
  const context = found.getContextObject(contextName);
  if (!context) throw new KubeconfigError(`${source} has no context "${contextName}": ${known}`);
  const cluster = found.getCluster(context.cluster);
  if (!cluster) {
    throw new KubeconfigError(`${source}: context "${contextName}" names cluster "${context.cluster}", which is not there`);
  }
  const user = context.user ? found.getUser(context.user) : { name: '' };
  if (!user) {
    throw new KubeconfigError(`${source}: context "${contextName}" names user "${context.user}", which is not there`);
  }
  checkAddresses(source, cluster);
  const config = new KubeConfig();
  // client-node refuses plain http unless this is set; there is no certificate to skip then.
  const isPlain = cluster.server.startsWith('http:');
  config.loadFromOptions({
    clusters: [{ ...cluster, skipTLSVerify: cluster.skipTLSVerify || isPlain }],
    users: [user],
    contexts: [{ ...context, user: user.name }],
    currentContext: contextName,
  });
  return { source, config, cluster, user, context };
}

function find(options: KubeconfigOptions, empty: () => KubeConfig): { source: string; found: KubeConfig } {
  const environment = options.environment ?? process.env;
  if (options.path !== undefined) {
    return { source: options.path, found: readFile(options.path, empty(), 'give an existing file with --kubeconfig') };
  }
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return { source: listed.join(delimiter), found: mergeFiles(listed, empty) };
  const standard = join(options.homeDirectory ?? homedir(), '.kube', 'config');
  if (exists(standard)) return { source: standard, found: readFile(standard, empty(), '') };
  if (environment.KUBERNETES_SERVICE_HOST !== undefined && exists(serviceAccountToken)) {
    const found = empty();
    found.loadFromCluster();
    return { source: 'the in-cluster service account', found };
  }
  throw new KubeconfigError(
    `no kubeconfig: KUBECONFIG is not set, ${standard} does not exist, and this is no pod with a service account; ` +
      'give a file with --kubeconfig',
  );
}

/** As kubectl merges: files that do not exist are passed over, and of two entries with one name the first wins. */
function mergeFiles(paths: readonly string[], empty: () => KubeConfig): KubeConfig {
  const present = paths.filter(exists);
  if (present.length === 0) {
    throw new KubeconfigError(`KUBECONFIG names ${paths.join(' and ')}, which does not exist: correct or unset it`);
  }
  const configs = present.map((path) => readFile(path, empty(), ''));
  const merged = empty();
  merged.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((config) => config.getClusters())),
    users: firstOfEachName(configs.flatMap((config) => config.getUsers())),
    contexts: firstOfEachName(configs.flatMap((config) => config.getContexts())),
    currentContext: configs.map((config) => config.getCurrentContext()).find((name) => Boolean(name)),
  });
  return merged;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  const names = new Set<string>();
  return entries.filter(({ name }) => !names.has(name) && names.add(name));
}

function readFile(path: string, config: KubeConfig, advice: string): KubeConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${messageOf(cause)})`;
    throw new KubeconfigError(`kubeconfig ${path} ${what}${advice === '' ? '' : `: ${advice}`}`, { cause });
  }
  try {
    config.loadFromString(text);
    config.makePathsAbsolute(dirname(path));
  } catch (cause) {
    const what = text.trim() === '' ? 'it is empty' : messageOf(cause);
    throw new KubeconfigError(`${path} is not a kubeconfig: ${what}`, { cause });
  }
  return config;
}

function checkAddresses(source: string, cluster: Cluster): void {
  const where = `${source}: cluster "${cluster.name}"`;
  if (!/^https?:\/\//.test(cluster.server) || !URL.canParse(cluster.server)) {
    throw new KubeconfigError(`${where} has server "${cluster.server}"; expected a URL such as https://10.0.0.1:6443`);
  }
  const proxy = cluster.proxyUrl;
  if (proxy && !/^https?:\/\//.test(proxy)) {
    throw new KubeconfigError(`${where} has proxy-url "${proxy}"; only http and https proxies are supported`);
  }
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'; // there, but unreadable: the reading will say why
  }
}

function sameHeaders(a: Credentials['headers'], b: Credentials['headers']): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
