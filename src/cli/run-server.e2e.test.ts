import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/system-clock.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../plane/apiserver/listen-http.ts';
import { httpsGet } from '../serving/testing/https-get.ts';
import { freePorts } from '../../test/planes/real/ports.ts';
import { freshHome } from './testing/fresh-home.ts';
import type { TestProcess } from './testing/test-process.ts';

const home = freshHome('server');

function tutti(...parameters: readonly string[]): TestProcess {
  return home.tutti(parameters);
}

async function kubeconfigFor(server: string): Promise<string> {
  const path = join(home.path, 'kubeconfig');
  const kubeconfig = {
    clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  await writeFile(path, JSON.stringify(kubeconfig));
  return path;
}

describe.each(['scheduler', 'controller'])('tutti %s', (name) => {
  it('logs that the server is unreachable, retries, and logs when it is reachable', async () => {
    const first = await listenHttp(new EmbeddedApiServer({ clock: systemClock, random: Math.random }), 0);
    await first.close();
    const kubeconfig = await kubeconfigFor(first.url);
    const [port] = await freePorts(1);
    const process = tutti(name, '--kubeconfig', kubeconfig, '--secure-port', String(port), '--log-format', 'json');
    await process.said(/"message":"cannot reach the API server, retrying"/);
    const [, url] = await process.said(/"health":"(https:[^"]*)"/);
    expect(await httpsGet(url!)).toMatchObject({ status: 200, text: 'ok' });
    expect(await httpsGet(url!.replace('healthz', 'readyz'))).toMatchObject({ status: 500 });
    const again = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
    const second = await listenHttp(again, first.port);
    try {
      await process.said(/"message":"API server reached"/);
      process.signal('SIGTERM');
      expect(await process.ended()).toMatchObject({ exitCode: 0 });
      const [outage] = process.stderr.split('API server responds again');
      expect(outage!.split('\n').filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([
        expect.stringContaining('cannot reach the API server, retrying'),
      ]);
    } finally {
      again.close();
      await second.close();
    }
  });

  it.each([
    [401, 'Unauthorized', /does not recognize these credentials, or they have expired: renew them/],
    [403, 'Forbidden', /denies the request: grant the user a role that allows it/],
  ])(
    'logs what to do when the server rejects access with %i, and retries until it does not',
    async (code, reason, remedy) => {
      let isRejecting = true;
      const server = createServer((_request, response) => {
        const body = isRejecting
          ? { kind: 'Status', code, reason, message: 'not you' }
          : { gitVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] };
        response.writeHead(isRejecting ? code : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const kubeconfig = await kubeconfigFor(url);
        const process = tutti(name, '--kubeconfig', kubeconfig, '--secure-port', '0', '--log-format', 'json');
        const [line] = await process.said(/.*"message":"API server rejects access, retrying".*/);
        const { server: where, error } = JSON.parse(line) as Record<string, string>;
        expect(where).toBe(url);
        expect(error).toMatch(new RegExp(`^GET /\\S+ returned ${code} ${reason}: not you\\. `));
        expect(error).toMatch(remedy);
        isRejecting = false;
        await process.said(/"message":"API server reached"/);
        process.signal('SIGTERM');
        expect(await process.ended()).toMatchObject({ exitCode: 0 });
        expect(process.stderr.match(/rejects access/g)).toHaveLength(1);
        expect(process.stderr).not.toContain('cannot reach the API server');
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
  );

  it('reports a missing kubeconfig without a stack trace', async () => {
    const missing = tutti(name, '--kubeconfig', '/does/not/exist');
    expect(await missing.ended()).toMatchObject({ exitCode: 1 });
    expect(missing.stderr).toMatch(/^tutti: .*\/does\/not\/exist does not exist/);
    const none = tutti(name);
    expect(await none.ended()).toMatchObject({ exitCode: 1 });
    expect(none.stderr).toMatch(/^tutti: .*kubeconfig/i);
    expect(missing.stderr + none.stderr).not.toContain('    at ');
  });
});
