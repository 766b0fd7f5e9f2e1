import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { messageOf } from '../base/message-of.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** Where to look for a kubeconfig. */
export interface KubeconfigLocation {
  /** `--kubeconfig`. Absent: the files of KUBECONFIG, else ~/.kube/config, else the service account of the pod. */
  readonly path?: string;
  /** What names `path`, for advice. Default: `--kubeconfig`. */
  readonly pathFrom?: string;
  /** Absent: the kubeconfig's current-context. */
  readonly context?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory?: string;
}

/** The one cluster, user and context of a kubeconfig that are used. */
export interface ResolvedKubeconfig {
  /** For messages: the file names, or `in-cluster service account`. */
  readonly source: string;
  /** Holds exactly the one cluster, user and context that are used. */
  readonly config: KubeConfig;
  readonly cluster: Cluster;
  readonly user: User;
  readonly context: Context;
}

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Finds, reads and checks the kubeconfig. Rejects with KubeconfigError, naming the file and what is wrong with it. */
export async function resolveKubeconfig(options: KubeconfigLocation): Promise<ResolvedKubeconfig> {
  // Loaded late: the package costs half a second, which commands that need no cluster should not pay.
  const { KubeConfig } = await import('./client-node-kubeconfig.ts');
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
    throw new KubeconfigError(
      `${source}: context "${contextName}" names cluster "${context.cluster}", which is not there`,
    );
  }
  const user = context.user ? found.getUser(context.user) : { name: 'anonymous' };
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

function find(options: KubeconfigLocation, empty: () => KubeConfig): { source: string; found: KubeConfig } {
  const environment = options.environment ?? process.env;
  if (options.path !== undefined) {
    return { source: options.path, found: readFile(options.path, empty(), options.pathFrom) };
  }
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return { source: listed.join(delimiter), found: mergeFiles(listed, empty) };
  const standard = join(options.homeDirectory ?? homedir(), '.kube', 'config');
  if (exists(standard)) return { source: standard, found: readFile(standard, empty()) };
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
  const configs = present.map((path) => readFile(path, empty()));
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

function readFile(path: string, config: KubeConfig, pathFrom = '--kubeconfig'): KubeConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what =
      code === 'ENOENT'
        ? `does not exist: give an existing file with ${pathFrom}`
        : `cannot be read (${messageOf(cause)}): make it readable, or give another with ${pathFrom}`;
    throw new KubeconfigError(`kubeconfig ${path} ${what}`, { cause });
  }
  try {
    config.loadFromString(withTokensOfFiles(text, path));
    config.makePathsAbsolute(dirname(path));
  } catch (cause) {
    if (cause instanceof KubeconfigError) throw cause;
    const what = text.trim() === '' ? 'it is empty' : messageOf(cause);
    throw new KubeconfigError(`${path} is not a kubeconfig: ${what}`, { cause });
  }
  return config;
}

/** client-node passes over `tokenFile`, so its content is put where it looks. As in client-go it wins over `token`. */
function withTokensOfFiles(text: string, path: string): string {
  const document = parse(text) as {
    users?: { name?: string; user?: { token?: string; tokenFile?: string } | null }[];
  } | null;
  if (!Array.isArray(document?.users)) return text;
  for (const { name, user } of document.users) {
    if (!user?.tokenFile) continue;
    const tokenFile = resolve(dirname(path), user.tokenFile);
    try {
      user.token = readFileSync(tokenFile, 'utf8').trim();
    } catch (cause) {
      const what = `the tokenFile of user "${name}" cannot be read (${messageOf(cause)})`;
      throw new KubeconfigError(`${path}: ${what}: correct it, or make the file readable`, { cause });
    }
  }
  return JSON.stringify(document);
}

function checkAddresses(source: string, cluster: Cluster): void {
  const where = `${source}: cluster "${cluster.name}"`;
  if (!/^https?:\/\//.test(cluster.server) || !URL.canParse(cluster.server)) {
    throw new KubeconfigError(`${where} has server "${cluster.server}"; expected a URL such as https://10.0.0.1:6443`);
  }
  const proxy = cluster.proxyUrl;
  if (proxy && !/^(https?|socks5):\/\//.test(proxy)) {
    throw new KubeconfigError(`${where} has proxy-url "${proxy}"; only http, https and socks5 proxies are supported`);
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
