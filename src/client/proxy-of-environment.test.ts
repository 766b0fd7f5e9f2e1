import { describe, expect, it } from 'vitest';
import { proxyOfEnvironment } from './proxy-of-environment.ts';

const proxy = 'http://proxy.example:3128';

function proxyFor(server: string, environment: Record<string, string>): string | undefined {
  return proxyOfEnvironment(new URL(server), environment);
}

describe('the proxy of the environment', () => {
  it.each([
    ['https://api.example', { HTTPS_PROXY: proxy }, proxy],
    ['https://api.example', { https_proxy: proxy }, proxy],
    ['https://api.example', { HTTPS_PROXY: proxy, https_proxy: 'http://other:1' }, proxy],
    ['https://api.example', { HTTP_PROXY: proxy }, undefined],
    ['http://api.example', { HTTP_PROXY: proxy }, proxy],
    ['https://api.example', { HTTPS_PROXY: 'proxy.example:3128' }, proxy],
    ['https://api.example', { HTTPS_PROXY: '' }, undefined],
    ['https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
    ['https://127.1.2.3:6443', { HTTPS_PROXY: proxy }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: proxy }, undefined],
  ])('for %s and %j is %s', (server, environment, expected) => {
    expect(proxyFor(server, environment as Record<string, string>)).toBe(expected);
  });

  it.each([
    ['*', 'https://api.example', true],
    ['api.example', 'https://api.example', true],
    ['example', 'https://api.example', true],
    ['API.Example', 'https://api.example', true],
    ['.example', 'https://api.example', true],
    ['*.example', 'https://api.example', true],
    ['.api.example', 'https://api.example', false],
    ['pi.example', 'https://api.example', false],
    ['other, api.example:6443', 'https://api.example:6443', true],
    ['api.example:443', 'https://api.example', true],
    ['api.example:443', 'https://api.example:6443', false],
    ['10.96.0.1', 'https://10.96.0.1', true],
    ['10.96.0.0/12', 'https://10.100.0.1:6443', true],
    ['10.96.0.0/12', 'https://10.112.0.1', false],
    ['10.96.0.0/99', 'https://10.96.0.1', false],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['fd00::1', 'https://[fd00::1]:6443', true],
    ['10.96.0.0/12', 'https://api.example', false],
    [',,', 'https://api.example', false],
  ])('with NO_PROXY=%s is bypassed for %s: %s', (exceptions, server, isBypassed) => {
    const environment = { HTTPS_PROXY: proxy, no_proxy: exceptions };
    expect(proxyFor(server, environment)).toBe(isBypassed ? undefined : proxy);
  });

  it.each([
    ['socks5://user:canary@proxy:1080', 'the environment has an HTTPS_PROXY with the unsupported scheme socks5'],
    ['http://', 'the environment has an HTTPS_PROXY that is not a valid proxy URL'],
  ])('%s is rejected without quoting its secrets', (value, message) => {
    const read = (): unknown => proxyFor('https://api.example', { HTTPS_PROXY: value });
    expect(read).toThrow(message);
    expect(read).not.toThrow('canary');
  });
});
