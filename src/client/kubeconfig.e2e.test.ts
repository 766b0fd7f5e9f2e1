import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { VirtualClock } from '../base/virtual-clock.ts';
import { describeError } from '../observability/logger.ts';
import type { KubeconfigEndpoint } from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { kubeconfig, KubeconfigFiles } from './testing/kubeconfig-files.ts';

let files: KubeconfigFiles;
let folder: string;
let clock: VirtualClock;

beforeEach(() => {
  files = new KubeconfigFiles();
  ({ folder, clock } = files);
});

afterEach(() => files.remove());

describe('a credential plugin', () => {
  async function withPlugin(script: string): Promise<KubeconfigEndpoint> {
    chmodSync(files.write('plugin', `#!/bin/sh\n${script}\n`), 0o700);
    // Relative to the kubeconfig, as in kubectl.
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', provideClusterInfo: true };
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'us' } }];
    return files.load(files.write('config', kubeconfig({ user: { exec }, cluster: { extensions } })));
  }

  /** Returns an ExecCredential as a word of a shell script. */
  function credential(status: string): string {
    return `"{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":${status}}"`;
  }

  /** Each run prints another token: token-1, token-2, … */
  function countingPlugin(): Promise<KubeconfigEndpoint> {
    const runs = join(folder, 'runs');
    return withPlugin(`echo run >> ${runs}
n=$(wc -l < ${runs} | tr -d ' ')
echo ${credential('{\\"token\\":\\"token-$n\\"}')}`);
  }

  test('runs once for all waiting calls', async () => {
    const endpoint = await countingPlugin();
    const all = await Promise.all(Array.from({ length: 10 }, async () => endpoint.credentials()));
    expect(new Set(all.map((each) => each.headers.authorization))).toEqual(new Set(['Bearer token-1']));
  });

  test('runs again after a rejection, but not for each of many', async () => {
    const endpoint = await countingPlugin();
    const first = await endpoint.credentials();
    endpoint.rejected(first);
    expect(await endpoint.credentials()).toBe(first);
    clock.advance(5_000);
    const second = await endpoint.credentials();
    expect(second.headers.authorization).toBe('Bearer token-2');
    endpoint.rejected(first); // a late response to an old call
    clock.advance(5_000);
    expect(await endpoint.credentials()).toBe(second);
  });

  test('that fails is reported with its stderr, and runs again only after a delay', async () => {
    const runs = join(folder, 'runs');
    const endpoint = await withPlugin(`echo run >> ${runs}; echo "log in first" >&2; exit 1`);
    await expect(endpoint.credentials()).rejects.toThrow(/its credential plugin.*log in first/);
    await expect(endpoint.credentials()).rejects.toThrow(/log in first/);
    expect(readFileSync(runs, 'utf8')).toBe('run\n');
    clock.advance(5_000);
    await expect(endpoint.credentials()).rejects.toThrow(/log in first/);
    expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n');
  });

  test('backs off while it fails', async () => {
    const runs = join(folder, 'runs');
    const endpoint = await withPlugin(`echo run >> ${runs}; exit 1`);
    const after = async (ms: number): Promise<number> => {
      clock.advance(ms);
      await Promise.resolve(endpoint.credentials()).catch(() => undefined);
      return readFileSync(runs, 'utf8').split('run').length - 1;
    };
    expect([await after(0), await after(5_000), await after(5_000), await after(5_000)]).toEqual([1, 2, 2, 3]);
    expect([await after(10_000), await after(10_000), await after(3_600_000)]).toEqual([3, 4, 5]);
  });

  test('that hangs is killed with its children, reported by its command, and run again', async () => {
    const runs = join(folder, 'runs');
    const endpoint = await withPlugin(`echo $$ >> ${runs}; sleep 1000 & wait`);
    const first = Promise.resolve(endpoint.credentials());
    first.catch(() => undefined);
    await expect.poll(() => existsSync(runs) && readFileSync(runs, 'utf8').includes('\n')).toBe(true);
    clock.advance(30_000);
    await expect(first).rejects.toThrow(
      `(its credential plugin): ${join(folder, 'plugin')} did not finish within 30 s and was killed`,
    );
    const group = Number(readFileSync(runs, 'utf8').trim());
    await expect.poll(() => groupExists(group)).toBe(false);
    files.write('plugin', `#!/bin/sh\necho ${credential('{\\"token\\":\\"late\\"}')}`);
    clock.advance(5_000);
    expect((await endpoint.credentials()).headers.authorization).toBe('Bearer late');
  });

  const withoutAny = 'printed an ExecCredential without a token or client certificate';

  test.each([
    ['nothing', 'true', 'printed nothing, expected an ExecCredential in JSON'],
    ['a bare token', 'echo canary-token', 'printed something that is not an ExecCredential in JSON'],
    ['no token', `echo ${credential('{}')}`, `${withoutAny} in its status`],
    ['an empty token', `echo ${credential('{\\"token\\":\\"\\"}')}`, withoutAny],
    ['no status', `echo ${credential('null')}`, withoutAny],
    [
      'a certificate alone',
      `echo ${credential('{\\"clientCertificateData\\":\\"x\\"}')}`,
      'printed a client certificate or key without the other',
    ],
    [
      'another version',
      'echo \'{"kind":"ExecCredential","apiVersion":"v9","status":{"token":"canary"}}\'',
      'did not print an ExecCredential of version client.authentication.k8s.io/v1',
    ],
    [
      'no end of output',
      'while :; do echo canary canary canary canary canary canary canary canary; done',
      'printed more than 1048576 bytes and was killed',
    ],
  ])('that prints %s is an error, which does not quote the output', async (_, script, problem) => {
    const credentials = Promise.resolve((await withPlugin(script)).credentials());
    const error = (await credentials.catch((thrown: unknown) => thrown)) as Error;
    expect(error).toBeInstanceOf(KubeconfigError);
    expect(error.message).toContain(`${join(folder, 'plugin')} ${problem}`);
    expect(describeError(error)).not.toContain('canary');
  });

  test('that is missing is reported with its install hint', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'tutti-absent', installHint: 'brew it' };
    const endpoint = await files.load(files.write('config', kubeconfig({ user: { exec } })));
    await expect(endpoint.credentials()).rejects.toThrow('tutti-absent was not found: brew it');
  });

  test('receives the same input as from kubectl, and may return a client certificate', async () => {
    const reported = join(folder, 'exec-info');
    const status = '{\\"clientCertificateData\\":\\"CERT\\",\\"clientKeyData\\":\\"KEY\\"}';
    const endpoint = await withPlugin(`echo "$KUBERNETES_EXEC_INFO" > ${reported}; echo ${credential(status)}`);
    const { tls, headers } = await endpoint.credentials();
    expect([tls.cert, tls.key, headers]).toEqual(['CERT', 'KEY', {}]);
    expect(JSON.parse(readFileSync(reported, 'utf8'))).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: { interactive: false, cluster: { server: 'https://10.0.0.1:6443', config: { audience: 'us' } } },
    });
  });

  test('runs again before its credential expires', async () => {
    const runs = join(folder, 'runs');
    const until = new Date(clock.now() + 600_000).toISOString();
    const endpoint = await withPlugin(
      `echo run >> ${runs}; echo ${credential(`{\\"token\\":\\"a\\",\\"expirationTimestamp\\":\\"${until}\\"}`)}`,
    );
    const count = (): number => readFileSync(runs, 'utf8').split('run').length - 1;
    await endpoint.credentials();
    clock.advance(400_000);
    await endpoint.credentials();
    await new Promise((resolve) => setImmediate(resolve));
    expect(count()).toBe(1);
    clock.advance(120_000);
    await endpoint.credentials();
    await expect.poll(count).toBe(2);
  });

  test('does not run if the user has a token', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'tutti-absent' };
    const endpoint = await files.load(files.write('config', kubeconfig({ user: { exec, token: 'given' } })));
    expect((await endpoint.credentials()).headers).toEqual({ authorization: 'Bearer given' });
  });
});

function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
