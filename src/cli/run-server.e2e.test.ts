import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/system-clock.ts';
import { EmbeddedApiServer } from '../embedded/embedded-api-server.ts';
import { listenHttp } from '../embedded/listen-http.ts';
import { TestProcess } from './testing/test-process.ts';

const running: TestProcess[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-server-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill()));
  await rm(folder, { recursive: true });
});

function tutti(...parameters: readonly string[]): TestProcess {
  const process = new TestProcess(parameters, { KUBECONFIG: '', HOME: folder });
  running.push(process);
  return process;
}

async function kubeconfigFor(server: string): Promise<string> {
  const path = join(folder, 'kubeconfig');
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
  it('says that the server cannot be reached, goes on trying, and says when it can', async () => {
    const first = await listenHttp(new EmbeddedApiServer({ clock: systemClock, random: Math.random }), 0);
    await first.close();
    const kubeconfig = await kubeconfigFor(first.url);
    const process = tutti(name, '--kubeconfig', kubeconfig, '--metrics-port', '0', '--log-format', 'json');
    await process.said(/"message":"API server cannot be reached; trying again until it can"/);
    const [, url] = await process.said(/"health":"(http:[^"]*)"/);
    expect((await fetch(url!)).status).toBe(200);
    const again = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
    const second = await listenHttp(again, first.port);
    try {
      await process.said(/"message":"API server reached"/);
      process.signal('SIGTERM');
      const { exitCode, tookAfterSignalMs } = await process.ended();
      expect(exitCode).toBe(0);
      expect(tookAfterSignalMs).toBeLessThan(2_000);
      expect(process.stderr.match(/cannot be reached/g)).toHaveLength(1);
    } finally {
      again.close();
      await second.close();
    }
  });

  it('says in plain words that there is no kubeconfig', async () => {
    const missing = tutti(name, '--kubeconfig', '/does/not/exist');
    expect(await missing.ended()).toMatchObject({ exitCode: 1 });
    expect(missing.stderr).toMatch(/^tutti: .*\/does\/not\/exist does not exist/);
    const none = tutti(name);
    expect(await none.ended()).toMatchObject({ exitCode: 1 });
    expect(none.stderr).toMatch(/^tutti: .*kubeconfig/i);
    expect(missing.stderr + none.stderr).not.toContain('    at ');
  });
});
