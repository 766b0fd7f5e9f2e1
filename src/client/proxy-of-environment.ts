import { BlockList, isIP } from 'node:net';
import { KubeconfigError } from './kubeconfig-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy that the environment sets for a server, by kubectl's rules (Go's httpproxy). `HTTPS_PROXY` applies to https
 * and `HTTP_PROXY` to http; upper case wins over lower case. Loopback and the entries of `NO_PROXY` need no proxy. An entry is a
 * host name with all subdomains, `.example.com` for subdomains only, an address, a range such as 10.0.0.0/8, each with or without
 * a port, or `*`. Throws KubeconfigError if the proxy is unusable.
 */
export function proxyOfEnvironment(server: URL, environment: Environment): string | undefined {
  const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const given = valueOf(variable, environment);
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (given === '' || isLoopback(host)) return undefined;
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  const exceptions = valueOf('NO_PROXY', environment).split(',');
  if (exceptions.some((exception) => matches(exception.trim().toLowerCase(), host, port))) return undefined;
  const url = given.includes('://') ? given : `http://${given}`;
  const problem = proxyProblem(url);
  if (problem !== undefined) throw new KubeconfigError(`the environment has an ${variable} ${problem}`);
  return url;
}

/**
 * Returns what is wrong with a proxy URL, as a phrase that follows "has a proxy-url"; undefined if it is usable. The phrase quotes
 * only the scheme of the URL.
 */
export function proxyProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const remedy = 'set an http:// or https:// proxy that supports CONNECT';
  if (parsed === undefined || parsed.hostname === '') return `that is not a valid proxy URL: ${remedy}`;
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return `with the unsupported scheme ${parsed.protocol.slice(0, -1)}: ${remedy}`;
  }
  return undefined;
}

function valueOf(variable: string, environment: Environment): string {
  return [environment[variable], environment[variable.toLowerCase()]].find(Boolean) ?? '';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.startsWith('127.') || host === '::1';
}

function matches(exception: string, host: string, port: string): boolean {
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
