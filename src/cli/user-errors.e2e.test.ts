import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshHome } from './testing/fresh-home.ts';
import type { TestProcess, TestProcessOptions } from './testing/test-process.ts';

const home = freshHome('errors');

function tutti(parameters: readonly string[], options: TestProcessOptions = {}): TestProcess {
  // The compile cache would create a TMPDIR that does not exist.
  return home.tutti(parameters, {
    ...options,
    environment: { NODE_DISABLE_COMPILE_CACHE: '1', ...options.environment },
  });
}

/** Runs `tutti`, which must exit with code 1 and an error for the user, without a stack trace. Returns the error. */
async function rejection(parameters: readonly string[], options: TestProcessOptions = {}): Promise<string> {
  const process = tutti(parameters, options);
  expect(await process.ended()).toMatchObject({ exitCode: 1 });
  expect(process.stderr).toMatch(/^tutti: /m);
  expect(process.stderr).not.toMatch(/^ +at |please report/m);
  return /^tutti: (.*)$/ms.exec(process.stderr)![1]!.trim();
}

/** Occupies a port while `act` runs. */
async function withPortTaken<T>(act: (port: number) => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    return await act((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

describe('TMPDIR', () => {
  it('is named in the error if it does not exist', async () => {
    const environment = { TMPDIR: join(home.path, 'missing') };
    expect(await rejection(['up', '--exit'], { environment })).toBe(
      `cannot write the kubeconfig to ${home.path}/missing: the folder does not exist. Set TMPDIR to a writable folder`,
    );
  });

  it('is named in the error if it is a file', async () => {
    const TMPDIR = join(home.path, 'file');
    await writeFile(TMPDIR, '');
    expect(await rejection(['up', '--exit'], { environment: { TMPDIR } })).toContain(`${TMPDIR}: it is not a folder`);
  });

  const mayMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;
  it.skipIf(!mayMount).each([
    ['its directory', 1],
    ['the file in it', 2],
  ])('is named in the error if it has no space for %s', async (_what, inodes) => {
    const mounting = `mount -t tmpfs -o nr_inodes=${inodes} tmpfs '${home.path}' && exec "$@"`;
    const under = ['unshare', '-rm', 'sh', '-c', mounting, 'sh'];
    expect(await rejection(['up', '--exit'], { environment: { TMPDIR: home.path }, under })).toContain(
      `${home.path}: no space is left on the device. Set TMPDIR`,
    );
  });
});

describe('manifests', () => {
  it('are all named in the error if they cannot be read', async () => {
    await writeFile(join(home.path, 'file.yaml'), '');
    await mkdir(join(home.path, 'jobs'));
    await symlink(join(home.path, 'gone.yaml'), join(home.path, 'jobs', 'dangling.yaml'));
    await symlink('loop.yaml', join(home.path, 'loop.yaml'));
    const files = ['file.yaml/below.yaml', 'jobs', 'loop.yaml'].flatMap((name) => ['--file', join(home.path, name)]);
    const [title, ...problems] = (await rejection(['up', ...files])).split('\n').map((line) => line.trim());
    expect(title).toBe('cannot apply the manifests:');
    expect(problems).toEqual([
      expect.stringContaining(`${home.path}/file.yaml/below.yaml: cannot be read: ENOTDIR`),
      `${home.path}/jobs/dangling.yaml: no such file or directory`,
      expect.stringContaining(`${home.path}/loop.yaml: cannot be read: ELOOP`),
    ]);
  });
});

/** Writes a kubeconfig. `tutti` reports these errors before it calls the server. */
async function kubeconfigFile(user: object = {}): Promise<string> {
  const path = join(home.path, 'kubeconfig');
  const kubeconfig = {
    clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'eve', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'eve' } }],
    'current-context': 'a',
  };
  await writeFile(path, JSON.stringify(kubeconfig));
  return path;
}

describe('a kubeconfig', () => {
  it('is named in the error if it is a directory', async () => {
    expect(await rejection(['scheduler', '--kubeconfig', home.path])).toMatch(
      new RegExp(`^kubeconfig ${home.path} cannot be read \\(EISDIR.*set another with --kubeconfig$`),
    );
  });

  it('is named in the error if its token file cannot be read', async () => {
    const path = await kubeconfigFile({ tokenFile: 'token' });
    expect(await rejection(['controller', '--kubeconfig', path])).toMatch(
      new RegExp(
        `^${path}: the tokenFile of user "eve" cannot be read \\(ENOENT.*${home.path}/token.*\\): correct the path`,
      ),
    );
  });
});

describe('serving flags', () => {
  const key = 'test/fixtures/tls/server.key';
  it.each([
    [
      ['--tls-cert-file', '/no/file', '--tls-private-key-file', key],
      /^--tls-cert-file \/no\/file cannot be read \(ENOENT/,
    ],
    [['--tls-cert-file', key], /^--tls-cert-file is set without --tls-private-key-file: set both, or neither/],
    [
      ['--tls-cert-file', 'test/fixtures/tls/client.crt', '--tls-private-key-file', key],
      /^the key of --tls-private-key-file .*server\.key does not match the first certificate of --tls-cert-file .*client\.crt/,
    ],
    [['--client-ca-file', key], /^--client-ca-file .*server\.key contains no certificate: use a PEM file/],
    [
      ['--authentication-kubeconfig', '/no/file'],
      /^kubeconfig \/no\/file does not exist: .* --authentication-kubeconfig$/,
    ],
    [
      ['--authorization-kubeconfig', '/no/file'],
      /^kubeconfig \/no\/file does not exist: .* --authorization-kubeconfig$/,
    ],
  ])('are validated before the process starts: %j', async (flags, message) => {
    const kubeconfig = await kubeconfigFile();
    expect(await rejection(['scheduler', '--kubeconfig', kubeconfig, ...flags])).toMatch(message);
  });
});

describe('the serving address', () => {
  it.each(['scheduler', 'controller'])('of tutti %s is named in the error if another process uses it', async (name) => {
    const kubeconfig = await kubeconfigFile();
    await withPortTaken(async (port) => {
      expect(await rejection([name, '--kubeconfig', kubeconfig, '--secure-port', String(port)])).toBe(
        `cannot serve on 0.0.0.0, port ${port}: the port is in use. Choose another port with --secure-port`,
      );
    });
  });

  it.each(['192.0.2.1', 'nowhere.invalid'])(
    'is named in the error if it is not an address of this machine: %s',
    async (host) => {
      const flags = ['--kubeconfig', await kubeconfigFile(), '--secure-port', '10259', '--bind-address', host];
      expect(await rejection(['scheduler', ...flags])).toBe(
        `cannot serve on ${host}, port 10259: this machine does not have the address. Choose an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all addresses`,
      );
    },
  );
});

// /dev/full is a device that never has space left.
describe.skipIf(!existsSync('/dev/full'))('output that cannot be written', () => {
  it.each([[['--version']], [['up', '--exit']], [['up']]])(
    'ends tutti %s with exit code 1 and the reason',
    async (parameters) => {
      expect(await rejection(parameters, { stdoutTo: '/dev/full', environment: { TMPDIR: home.path } })).toBe(
        'cannot write to standard output: no space left on the device. Free some space, or redirect the output',
      );
      expect(await readdir(home.path)).toEqual([]);
    },
  );

  it('ends a server with exit code 1 if it is the log', async () => {
    const parameters = ['scheduler', '--kubeconfig', await kubeconfigFile(), '--secure-port', '0'];
    expect(await tutti(parameters, { stderrTo: '/dev/full' }).ended()).toMatchObject({ exitCode: 1 });
  });
});
