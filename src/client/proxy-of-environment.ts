import { BlockList, isIP } from 'node:net';
import { KubeconfigError } from './kubeconfig-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a server, by the rules of kubectl (Go's httpproxy): `HTTPS_PROXY` for https, `HTTP_PROXY` for http,
 * in upper case before lower; none for loopback, and for what `NO_PROXY` lists: host names with all below them, `.example.com` with
 * those below it alone, addresses, ranges such as 10.0.0.0/8, each with or without a port, and `*`. Throws KubeconfigError for one that
 * cannot be used.
 */
export function proxyOfEnvironment(server: URL, environment: Environment): string | undefined {
  const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const given = valueOf(variable, environment);
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (given === '' || isLoopback(host)) return undefined;
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  const exceptions = valueOf('NO_PROXY', environment).split(',');
  if (exceptions.some((exception) => isMeant(exception.trim().toLowerCase(), host, port))) return undefined;
  const url = given.includes('://') ? given : `http://${given}`;
  const problem = proxyProblem(url);
  if (problem !== undefined) throw new KubeconfigError(`${variable} in the environment ${problem}`);
  return url;
}

/** Undefined: it can be used. Else what is wrong with it, beginning with a verb; what it holds itself is not repeated but for its scheme. */
export function proxyProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const remedy = 'give an http:// or https:// proxy that tunnels with CONNECT';
  if (parsed === undefined || parsed.hostname === '') return `is no URL of a proxy: ${remedy}`;
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return `is a ${parsed.protocol.slice(0, -1)} proxy, which is not supported: ${remedy}`;
  }
  return undefined;
}

function valueOf(variable: string, environment: Environment): string {
  return [environment[variable], environment[variable.toLowerCase()]].find(Boolean) ?? '';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.startsWith('127.') || host === '::1';
}

function isMeant(exception: string, host: string, port: string): boolean {
  if (exception === '*') return true;
  if (exception === '') return false;
  if (exception.includes('/')) return isInRange(exception, host);
  const { name, onlyPort } = split(exception);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (isIP(name) !== 0) return name === host;
  const suffix = name.replace(/^\*/, '');
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function split(exception: string): { readonly name: string; readonly onlyPort: string | undefined } {
  if (isIP(exception) !== 0) return { name: exception, onlyPort: undefined };
  const match = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(exception);
  return { name: match?.[1] ?? match?.[2] ?? exception, onlyPort: match?.[3] };
}

function isInRange(range: string, host: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const family = isIP(network);
  if (family === 0 || family !== isIP(host) || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
