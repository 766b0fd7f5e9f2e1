import { Buffer } from 'node:buffer';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { packageFile } from '../../base/package-files.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { ForwardingServer } from '../../client/testing/forwarding-server.ts';
import { makeSelfSignedCertificate } from '../../serving/certificates/self-signed-certificate.ts';
import { leaderObjects } from '../testing/leader-objects.ts';
import { TestProcess } from '../testing/test-process.ts';
import { bundlePage, PageTooLargeError, pageLimitBytes } from './bundle-page.ts';

let folder: string;
let scheduler: Server;
let api: ForwardingServer;
let kubeconfig: string;
/** What the scheduler was asked: path, token and last event id. */
const asked: unknown[][] = [];
let command: TestProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-ui-'));
  const { certificates: cert, key } = await makeSelfSignedCertificate(['scheduler'], Date.now(), 1);
  scheduler = createServer({ cert, key }, ({ url, headers }, response) => {
    asked.push([url, headers.authorization, headers['last-event-id']]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // The stream does not end.
    response.write('event: gap\ndata: {}\n\n');
  });
  await new Promise<void>((resolve) => scheduler.listen(0, '127.0.0.1', resolve));
  api = await ForwardingServer.start({ objects: leaderObjects, target: (scheduler.address() as AddressInfo).port });
  kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, localKubeconfig(api.url));
});

afterEach(async () => {
  await command?.kill();
  command = undefined;
});

afterAll(async () => {
  scheduler.closeAllConnections();
  await new Promise((resolve) => scheduler.close(resolve));
  await api.close();
  await rm(folder, { recursive: true });
});

it('serves the page as published, with the stream of the scheduler that leads, until it is interrupted', async () => {
  command = new TestProcess([
    ...['ui', '--kubeconfig', kubeconfig, '--token-from-service-account', 'tutti-system/debug'],
    '--insecure-skip-scheduler-tls-verify',
  ]);
  const [, link] = await command.said(/^Open (http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32})\nThe link works once/);
  const { origin, hash } = new URL(link!);
  const page = await fetch(`${origin}/page.js`);
  expect(page.headers.get('content-type')).toContain('text/javascript');
  expect(await page.text()).toContain('debug/events');
  const signedIn = await fetch(`${origin}/session`, { method: 'POST', headers: { origin }, body: hash.slice(1) });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const first = await new Promise<string>((resolve, reject) => {
    const headers = { cookie, 'last-event-id': 'e.7' };
    request(`${origin}/debug/events`, { headers }, (response) => {
      response.once('data', (data: unknown) => resolve(String(data)));
      response.on('error', () => undefined);
    })
      .on('error', reject)
      .end();
  });
  expect(first).toBe('event: gap\ndata: {}\n\n');
  expect(asked).toEqual([['/debug/events', 'Bearer secret', 'e.7']]);
  command.signal('SIGINT');
  expect(await command.ended()).toEqual({ exitCode: 0 });
  expect(command.stderr).toBe('');
});

it('says what it lacks before it serves anything', async () => {
  command = new TestProcess(['ui', '--kubeconfig', kubeconfig]);
  expect(await command.ended()).toEqual({ exitCode: 1 });
  expect(command.stderr).toContain('the scheduler needs a token');
  expect(command.stdout).toBe('');
});

it('is served by tutti up, too, which asks its own scheduler', async () => {
  command = new TestProcess(['up', '--empty', '--nodes', '1']);
  const [, link] = await command.said(/^timeline: (http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32})$/m);
  const { origin, hash } = new URL(link!);
  expect(await (await fetch(origin)).text()).toContain('<title>Tutti timeline</title>');
  const signedIn = await fetch(`${origin}/session`, { method: 'POST', headers: { origin }, body: hash.slice(1) });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const explain = `${origin}/debug/explain?namespace=default&name=red`;
  // The scheduler may still be starting.
  await expect
    .poll(async () => (await fetch(explain, { headers: { cookie } })).text())
    .toBe('the scheduler knows neither a group nor a pod of this name\n');
  expect((await fetch(explain)).status).toBe(401);
  command.signal('SIGINT');
  expect(await command.ended()).toEqual({ exitCode: 0 });
});

it('UI10 has a page of at most 60 kB, compressed, and refuses to build a larger one', async () => {
  const files = await bundlePage(packageFile('src', 'ui'));
  const size = files.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0);
  expect(size).toBeLessThanOrEqual(pageLimitBytes);
  expect(pageLimitBytes).toBe(60_000);
  for (const { name, bytes } of files.filter(({ name }) => name !== 'icon.svg'))
    expect(`${name}: ${/https?:\/\/[a-z]/i.exec(String(Buffer.from(bytes)))?.[0] ?? ''}`).toBe(`${name}: `);
  const large = join(folder, 'large');
  await cp(packageFile('src', 'ui'), large, { recursive: true });
  const noise = Array.from({ length: 60_000 }, (_, index) => ((index * 2_654_435_761) >>> 0).toString(36)).join(' ');
  await writeFile(join(large, 'main.ts'), `document.title = ${JSON.stringify(noise)};`);
  await expect(bundlePage(large)).rejects.toThrow(PageTooLargeError);
  await writeFile(join(large, 'main.ts'), `import { readFileSync } from 'node:fs'; readFileSync('/');`);
  await expect(bundlePage(large)).rejects.toThrow('node:fs');
});
