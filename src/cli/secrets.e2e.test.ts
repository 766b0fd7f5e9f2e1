import { chmod, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshHome } from './testing/fresh-home.ts';

const home = freshHome('secrets');

let server: Server;
let url: string;

beforeEach(async () => {
  // The server accepts lists, repeats the credentials that it got otherwise, and returns a version with terminal escape sequences.
  server = createServer((request, response) => {
    const { authorization = 'none' } = request.headers;
    const { url: target = '' } = request;
    const isAllowed = target === '/version' || target.includes('limit=');
    const body = isAllowed
      ? { gitVersion: 'v1.35.0\u001b[2J\u009b31m\u202e', metadata: { resourceVersion: '1' }, items: [] }
      : { kind: 'Status', code: 403, reason: 'Forbidden', message: `no: ${authorization}\r\n\u001b]0;x\u0007` };
    response.writeHead(isAllowed ? 200 : 403, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.close();
});

async function kubeconfig({ user = {}, cluster = {} }: { readonly user?: object; readonly cluster?: object }) {
  const path = join(home.path, 'kubeconfig');
  const content = {
    clusters: [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true, ...cluster } }],
    users: [{ name: 'a', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  await writeFile(path, JSON.stringify(content));
  return path;
}

function expectSafe(text: string): void {
  expect(text).not.toBe('');
  expect(text).not.toMatch(/canary/i);
  expect(text).not.toContain(btoa('admin:canary-password').slice(0, 12));
  // eslint-disable-next-line no-control-regex -- the test looks for control characters
  expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
}

describe('output and logs contain no secrets and no terminal escape sequences', () => {
  it.each(['text', 'json'])('with a token that the server repeats, in %s', async (format) => {
    const path = await kubeconfig({ user: { token: 'canary-token-of-the-user' } });
    const process = home.tutti([
      'scheduler',
      '--kubeconfig',
      path,
      '--secure-port',
      '0',
      '--log-format',
      format,
      '--log-level',
      'debug',
    ]);
    await process.said(/API server reached/);
    await process.said(/no: Bearer/);
    process.signal('SIGTERM');
    await process.ended();
    expectSafe(process.stderr);
    expect(process.stderr).toContain('v1.35.0\\u001b[2J\\u009b31m\\u202e');
  });

  it('with a user name and a password', async () => {
    const path = await kubeconfig({ user: { username: 'admin', password: 'canary-password' } });
    const process = home.tutti(['controller', '--kubeconfig', path, '--secure-port', '0']);
    await process.said(/no: Basic/);
    process.signal('SIGTERM');
    await process.ended();
    expectSafe(process.stderr);
  });

  it('with a proxy that does not respond', async () => {
    const path = await kubeconfig({ cluster: { 'proxy-url': 'http://admin:canary-password@127.0.0.1:1' } });
    const process = home.tutti(['scheduler', '--kubeconfig', path, '--secure-port', '0']);
    await process.said(/cannot reach the API server/);
    process.signal('SIGTERM');
    await process.ended();
    expectSafe(process.stderr);
  });

  it('with a credential plugin that prints only its token', async () => {
    const command = join(home.path, 'plugin');
    await writeFile(command, '#!/bin/sh\necho canary-token\n');
    await chmod(command, 0o700);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command };
    const process = home.tutti(['verify', '--kubeconfig', await kubeconfig({ user: { exec } })]);
    expect(await process.ended()).toMatchObject({ exitCode: 1 });
    expectSafe(process.stdout + process.stderr);
    expect(process.stdout).toContain(`${command} printed something that is not an ExecCredential in JSON`);
  });

  it.each([
    ['a server', { server: 'https://admin:canary-password@10.0.0.1:6443' }, 'has credentials in its server URL'],
    ['a proxy', { 'proxy-url': 'socks5://admin:canary-password@10.0.0.1:1080' }, 'with the unsupported scheme socks5'],
    ['a proxy', { 'proxy-url': 'admin:canary-password@10.0.0.1' }, 'has a proxy-url that'],
    ['an invalid URL', { server: 'admin:canary-password@10.0.0.1' }, 'expected a URL'],
  ])('with %s that Tutti rejects: %j', async (_, cluster, problem) => {
    const process = home.tutti(['scheduler', '--kubeconfig', await kubeconfig({ cluster })]);
    expect(await process.ended()).toMatchObject({ exitCode: 1 });
    expect(process.stderr).toContain(problem);
    expectSafe(process.stderr);
  });

  it('logs an unreachable server once per line', async () => {
    const port = (server.address() as AddressInfo).port;
    server.close();
    const process = home.tutti(['scheduler', '--kubeconfig', await kubeconfig({}), '--secure-port', '0']);
    await process.said(/cannot reach the API server/);
    process.signal('SIGTERM');
    await process.ended();
    for (const line of process.stderr.split('\n')) {
      expect(line.split(`ECONNREFUSED 127.0.0.1:${port}`).length - 1).toBeLessThanOrEqual(1);
      expect(line).not.toMatch(/Ms=\d+\./);
    }
  });
});
