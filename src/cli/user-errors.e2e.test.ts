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
  // Without a compile cache, which would make a TMPDIR that is not there.
  return home.tutti(parameters, {
    ...options,
    environment: { NODE_DISABLE_COMPILE_CACHE: '1', ...options.environment },
  });
}

/** Runs to the end, which must be exit code 1 and an error for the user: no stack, nothing to report. Answers the error. */
async function rejection(parameters: readonly string[], options: TestProcessOptions = {}): Promise<string> {
  const process = tutti(parameters, options);
  expect(await process.ended()).toMatchObject({ exitCode: 1 });
  expect(process.stderr).toMatch(/^tutti: /m);
  expect(process.stderr).not.toMatch(/^ +at |please report/m);
  return /^tutti: (.*)$/ms.exec(process.stderr)![1]!.trim();
}

/** Holds a port for as long as `hold` runs. */
async function holdingPort<T>(hold: (port: number) => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    return await hold((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

describe('a folder for temporary files', () => {
  it('that is not there is named, with the way out', async () => {
    const environment = { TMPDIR: join(home.path, 'missing') };
    expect(await rejection(['up', '--exit'], { environment })).toBe(
      `cannot write the kubeconfig to ${home.path}/missing: the folder does not exist. Set TMPDIR to a writable folder`,
    );
  });

  it('that is a file is named', async () => {
    const TMPDIR = join(home.path, 'file');
    await writeFile(TMPDIR, '');
    expect(await rejection(['up', '--exit'], { environment: { TMPDIR } })).toContain(`${TMPDIR}: it is not a folder`);
  });

  const mayMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;
  it.skipIf(!mayMount).each([
    ['for the folder of its own', 1],
    ['for the file in it', 2],
  ])('that has no room %s is named', async (_what, inodes) => {
    const mounting = `mount -t tmpfs -o nr_inodes=${inodes} tmpfs '${home.path}' && exec "$@"`;
    const under = ['unshare', '-rm', 'sh', '-c', mounting, 'sh'];
    expect(await rejection(['up', '--exit'], { environment: { TMPDIR: home.path }, under })).toContain(
      `${home.path}: no space is left on the device. Set TMPDIR`,
    );
  });
});

describe('manifests', () => {
  it('that cannot be read are named, all of them', async () => {
    await writeFile(join(home.path, 'file.yaml'), '');
    await mkdir(join(home.path, 'jobs'));
    await symlink(join(home.path, 'gone.yaml'), join(home.path, 'jobs', 'dangling.yaml'));
    await symlink('loop.yaml', join(home.path, 'loop.yaml'));
    const files = ['file.yaml/below.yaml', 'jobs', 'loop.yaml'].flatMap((name) => ['--file', join(home.path, name)]);
    const [title, ...problems] = (await rejection(['up', ...files])).split('\n').map((line) => line.trim());
    expect(title).toBe('the manifests cannot be applied:');
    expect(problems).toEqual([
      expect.stringContaining(`${home.path}/file.yaml/below.yaml: it cannot be read: ENOTDIR`),
      `${home.path}/jobs/dangling.yaml: there is no such file or folder`,
      expect.stringContaining(`${home.path}/loop.yaml: it cannot be read: ELOOP`),
    ]);
  });
});

/** A kubeconfig whose server nobody asks before these errors come. */
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
  it('that is a folder is named, with the way out', async () => {
    expect(await rejection(['scheduler', '--kubeconfig', home.path])).toMatch(
      new RegExp(`^kubeconfig ${home.path} cannot be read \\(EISDIR.*set another with --kubeconfig$`),
    );
  });

  it('that names a token file which cannot be read is named, and so is that', async () => {
    const path = await kubeconfigFile({ tokenFile: 'token' });
    expect(await rejection(['controller', '--kubeconfig', path])).toMatch(
      new RegExp(
        `^${path}: the tokenFile of user "eve" cannot be read \\(ENOENT.*${home.path}/token.*\\): correct the path`,
      ),
    );
  });
});

describe('what is served with', () => {
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
  ])('%j is said before anything is started', async (flags, message) => {
    const kubeconfig = await kubeconfigFile();
    expect(await rejection(['scheduler', '--kubeconfig', kubeconfig, ...flags])).toMatch(message);
  });
});

describe('the address of health and metrics', () => {
  it.each(['scheduler', 'controller'])('of tutti %s is named when another process has it', async (name) => {
    const kubeconfig = await kubeconfigFile();
    await holdingPort(async (port) => {
      expect(await rejection([name, '--kubeconfig', kubeconfig, '--secure-port', String(port)])).toBe(
        `cannot serve on 0.0.0.0, port ${port}: the port is in use. Choose another port with --secure-port`,
      );
    });
  });

  it.each(['192.0.2.1', 'nowhere.invalid'])('is named when it is none of this machine: %s', async (host) => {
    const flags = ['--kubeconfig', await kubeconfigFile(), '--secure-port', '10259', '--bind-address', host];
    expect(await rejection(['scheduler', ...flags])).toBe(
      `cannot serve on ${host}, port 10259: this machine does not have the address. Choose an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all addresses`,
    );
  });
});

// A device on which there is never any room.
describe.skipIf(!existsSync('/dev/full'))('output that cannot be written', () => {
  it.each([[['--version']], [['up', '--exit']], [['up']]])(
    'ends tutti %s with 1 and the reason',
    async (parameters) => {
      expect(await rejection(parameters, { stdoutTo: '/dev/full', environment: { TMPDIR: home.path } })).toBe(
        'standard output cannot be written to: there is no room left. Make room, or redirect it elsewhere',
      );
      expect(await readdir(home.path)).toEqual([]);
    },
  );

  it('ends a server with 1 when it is the log', async () => {
    const parameters = ['scheduler', '--kubeconfig', await kubeconfigFile(), '--secure-port', '0'];
    expect(await tutti(parameters, { stderrTo: '/dev/full' }).ended()).toMatchObject({ exitCode: 1 });
  });
});
