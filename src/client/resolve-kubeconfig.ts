import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import process from 'node:process';
import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { messageOf } from '../base/message-of.ts';
import { clusterAuthority } from './cluster-authority.ts';
import type { ExecConfig } from './exec-plugin.ts';
import { impersonationHeaders } from './impersonation.ts';
import type { ImpersonatingUser } from './impersonation.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { proxyOfEnvironment, proxyProblem } from './proxy-of-environment.ts';

/** Where to find a kubeconfig. */
export interface KubeconfigLocation {
  /** `--kubeconfig`. Absent: the files of KUBECONFIG, or ~/.kube/config, or the service account of the pod. */
  readonly path?: string;
  /** The flag or field that sets `path`, for error messages. Default: `--kubeconfig`. */
  readonly pathFrom?: string;
  /** Absent: the kubeconfig's current-context. */
  readonly context?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory?: string;
}

/** The selected cluster, user and context of a kubeconfig. */
export interface ResolvedKubeconfig {
  /** For messages: the file names, or `the in-cluster service account`. */
  readonly source: string;
  /** Holds only the selected cluster, user and context. */
  readonly config: KubeConfig;
  readonly cluster: Cluster;
  readonly user: User;
  readonly context: Context;
  /** The cluster's proxy, or the environment's if the cluster sets none. */
  readonly proxyUrl: string | undefined;
  /** Fields that client-node ignores or handles differently. */
  readonly extras: {
    /** The `exec` section, which `user` and `config` lack. Absent if the user has a token or a password: they take precedence. */
    readonly exec: ExecConfig | undefined;
    /** Header names in lower case. */
    readonly impersonation: Readonly<Record<string, string | readonly string[]>>;
    /** The cluster in the form that a plugin receives. */
    readonly clusterInfo: object;
  };
}

/** A user as written in the file. */
interface RawUser extends ImpersonatingUser {
  token?: string;
  tokenFile?: string;
  exec?: ExecConfig | null;
}

/** A cluster as written in the file. */
interface RawCluster {
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[] | null;
}

interface FoundKubeconfig {
  readonly config: KubeConfig;
  /** name -> the first entry with that name */
  readonly users: ReadonlyMap<string, RawUser>;
  readonly clusters: ReadonlyMap<string, RawCluster>;
}

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Finds, reads and checks the kubeconfig. Rejects with a KubeconfigError that names the file and the problem. */
export async function resolveKubeconfig(options: KubeconfigLocation): Promise<ResolvedKubeconfig> {
  // Imported on first use: the package takes half a second to load, which commands without a cluster should not pay.
  const { KubeConfig } = await import('./client-node-kubeconfig.ts');
  const { source, found: all } = find(options, () => new KubeConfig());
  const found = all.config;
  const contextName = options.context ?? found.getCurrentContext();
  const contextNames = found.getContexts().map((each) => each.name);
  const known = contextNames.length === 0 ? 'it has no contexts' : `it has ${contextNames.join(', ')}`;
  if (!contextName) {
    throw new KubeconfigError(`${source} has no current-context: set one with kubectl config use-context (${known})`);
  }
  const context = found.getContextObject(contextName);
  if (!context) throw new KubeconfigError(`${source} has no context "${contextName}": ${known}`);
  const cluster = found.getCluster(context.cluster);
  if (!cluster) {
    throw new KubeconfigError(
      `${source}: context "${contextName}" names cluster "${context.cluster}", which does not exist`,
    );
  }
  const given = context.user ? found.getUser(context.user) : { name: 'anonymous' };
  if (!given) {
    throw new KubeconfigError(`${source}: context "${contextName}" names user "${context.user}", which does not exist`);
  }
  checkCluster(source, cluster);
  const authority = clusterAuthority(`${source}: cluster "${cluster.name}"`, cluster);
  const raw = all.users.get(given.name) ?? {};
  // As in kubectl, a token or password takes precedence over the plugin.
  const exec = given.token || given.username ? undefined : (raw.exec ?? undefined);
  const user: User = { ...given, exec: undefined, impersonateUser: undefined };
  const extras = {
    exec,
    impersonation: impersonationOf(`${source}: user "${user.name}"`, raw),
    clusterInfo: clusterInfoOf(cluster, authority, all.clusters.get(cluster.name)),
  };
  const environment = options.environment ?? process.env;
  const own = cluster.proxyUrl ?? '';
  const proxyUrl = own === '' ? proxyOfEnvironment(new URL(cluster.server), environment) : own;
  const config = new KubeConfig();
  // client-node rejects plain HTTP unless this is set. With plain HTTP there is no certificate to skip.
  const isPlain = cluster.server.startsWith('http:');
  config.loadFromOptions({
    clusters: [{ ...cluster, skipTLSVerify: cluster.skipTLSVerify || isPlain }],
    users: [user],
    contexts: [{ ...context, user: user.name }],
    currentContext: contextName,
  });
  return { source, config, cluster, user, context, proxyUrl, extras };
}

function impersonationOf(subject: string, user: ImpersonatingUser): ReturnType<typeof impersonationHeaders> {
  try {
    return impersonationHeaders(user);
  } catch (cause) {
    throw new KubeconfigError(`${subject} has ${messageOf(cause)}`, { cause });
  }
}

/** Returns the cluster in the form of client.authentication.k8s.io. */
function clusterInfoOf(cluster: Cluster, authority: string | undefined, raw: RawCluster | undefined): object {
  const { server, skipTLSVerify, tlsServerName, proxyUrl } = cluster;
  const config = raw?.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension;
  return {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...(authority !== undefined && { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
    ...(config !== undefined && { config }),
  };
}

function find(options: KubeconfigLocation, empty: () => KubeConfig): { source: string; found: FoundKubeconfig } {
  const { environment = process.env, pathFrom = '--kubeconfig' } = options;
  const read = (path: string): FoundKubeconfig => readFile(path, empty(), pathFrom);
  if (options.path !== undefined) return { source: options.path, found: read(options.path) };
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return { source: listed.join(delimiter), found: mergeFiles(listed, empty, read) };
  const standard = join(options.homeDirectory ?? homedir(), '.kube', 'config');
  if (exists(standard)) return { source: standard, found: read(standard) };
  if (environment.KUBERNETES_SERVICE_HOST !== undefined && exists(serviceAccountToken)) {
    const config = empty();
    config.loadFromCluster();
    return { source: 'the in-cluster service account', found: { config, users: new Map(), clusters: new Map() } };
  }
  throw new KubeconfigError(
    `no kubeconfig: KUBECONFIG is not set, ${standard} does not exist, and this process does not run in a pod with a service account; ` +
      `set a file with ${pathFrom}`,
  );
}

/** Merges as kubectl does: it skips missing files, and the first of two entries with the same name wins. */
function mergeFiles(
  paths: readonly string[],
  empty: () => KubeConfig,
  read: (path: string) => FoundKubeconfig,
): FoundKubeconfig {
  const present = paths.filter(exists);
  if (present.length === 0) {
    throw new KubeconfigError(`KUBECONFIG names ${paths.join(' and ')}, which does not exist: correct or unset it`);
  }
  const files = present.map(read);
  const configs = files.map(({ config }) => config);
  const merged = empty();
  merged.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((config) => config.getClusters())),
    users: firstOfEachName(configs.flatMap((config) => config.getUsers())),
    contexts: firstOfEachName(configs.flatMap((config) => config.getContexts())),
    currentContext: configs.map((config) => config.getCurrentContext()).find((name) => Boolean(name)),
  });
  // A Map keeps the last entry with a name.
  const firsts = <T>(of: (file: FoundKubeconfig) => ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map(files.toReversed().flatMap((file) => [...of(file)]));
  return { config: merged, users: firsts(({ users }) => users), clusters: firsts(({ clusters }) => clusters) };
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  const names = new Set<string>();
  return entries.filter(({ name }) => !names.has(name) && names.add(name));
}

function readFile(path: string, config: KubeConfig, pathFrom: string): FoundKubeconfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what =
      code === 'ENOENT'
        ? `does not exist: set an existing file with ${pathFrom}`
        : `cannot be read (${messageOf(cause)}): make it readable, or set another with ${pathFrom}`;
    throw new KubeconfigError(`kubeconfig ${path} ${what}`, { cause });
  }
  try {
    const document: unknown = parse(text);
    if (typeof document !== 'object' || document === null) throw new TypeError('it is not a YAML mapping');
    const raw = document as RawKubeconfig;
    completeUsers(raw, path);
    config.loadFromString(JSON.stringify(raw));
    config.makePathsAbsolute(dirname(path));
    return {
      config,
      users: named(raw.users, ({ user }) => user ?? {}),
      clusters: named(raw.clusters, ({ cluster }) => cluster ?? {}),
    };
  } catch (cause) {
    if (cause instanceof KubeconfigError) throw cause;
    const what = text.trim() === '' ? 'it is empty' : messageOf(cause);
    throw new KubeconfigError(`${path} is not a kubeconfig: ${what}`, { cause });
  }
}

interface RawKubeconfig {
  readonly users?: readonly { readonly name?: string; readonly user?: RawUser | null }[];
  readonly clusters?: readonly { readonly name?: string; readonly cluster?: RawCluster | null }[];
}

function named<Entry extends { readonly name?: string }, T>(
  entries: readonly Entry[] | undefined,
  of: (entry: Entry) => T,
): ReadonlyMap<string, T> {
  if (!Array.isArray(entries)) return new Map();
  return new Map((entries as readonly Entry[]).toReversed().map((entry) => [entry.name ?? '', of(entry)]));
}

/**
 * Fills in fields that client-node ignores. The content of `tokenFile` becomes `token`; as in client-go, it overrides `token`. A
 * plugin's command with a slash is relative to the kubeconfig.
 */
function completeUsers({ users }: RawKubeconfig, path: string): void {
  if (!Array.isArray(users)) return;
  for (const { name, user } of users as NonNullable<RawKubeconfig['users']>) {
    if (user?.exec?.command?.includes(sep)) {
      user.exec = { ...user.exec, command: resolve(dirname(path), user.exec.command) };
    }
    if (user?.token) user.token = usableToken(user.token, `${path}: the token of user "${name}"`);
    if (!user?.tokenFile) continue;
    const tokenFile = resolve(dirname(path), user.tokenFile);
    let token: string;
    try {
      token = readFileSync(tokenFile, 'utf8').trim();
    } catch (cause) {
      const what = `the tokenFile of user "${name}" cannot be read (${messageOf(cause)})`;
      throw new KubeconfigError(`${path}: ${what}: correct the path, or make the file readable`, { cause });
    }
    if (token === '') {
      throw new KubeconfigError(
        `${path}: the tokenFile of user "${name}", ${tokenFile}, is empty: write the token to it`,
      );
    }
    user.token = usableToken(token, `${path}: the tokenFile of user "${name}", ${tokenFile},`);
  }
}

/** Returns the token without white space around it, such as the line break of a YAML block. Throws if it cannot be a token. */
function usableToken(text: string, what: string): string {
  const token = String(text).trim();
  const character = /[^\x21-\x7e]/.exec(token)?.[0];
  if (character === undefined) return token;
  const shown = /\s/.test(character) ? 'white space' : 'a character that is not ASCII';
  throw new KubeconfigError(`${what} contains ${shown}: copy it again, as one line`);
}

function checkCluster(source: string, cluster: Cluster): void {
  const where = `${source}: cluster "${cluster.name}"`;
  const { server, proxyUrl, caData, caFile, skipTLSVerify } = cluster;
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) {
    // Text before an @ may contain a password.
    const shown = server.replace(/^.*@/, '[…]@');
    throw new KubeconfigError(`${where} has server "${shown}"; expected a URL such as https://10.0.0.1:6443`);
  }
  const { username, password } = new URL(server);
  if (username !== '' || password !== '') {
    throw new KubeconfigError(
      `${where} has credentials in its server URL: move username and password to the user entry`,
    );
  }
  const problem = proxyUrl ? proxyProblem(proxyUrl) : undefined;
  if (problem !== undefined) throw new KubeconfigError(`${where} has a proxy-url ${problem}`);
  if (skipTLSVerify && (caData || caFile)) {
    throw new KubeconfigError(
      `${where} has a certificate-authority and insecure-skip-tls-verify, which would ignore it: remove one of the two`,
    );
  }
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'; // exists but is unreadable: reading it reports why
  }
}
