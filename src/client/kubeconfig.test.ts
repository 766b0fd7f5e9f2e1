import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { VirtualClock } from '../base/virtual-clock.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { kubeconfig, KubeconfigFiles } from './testing/kubeconfig-files.ts';

const fixture = (name: string): string => readFileSync(join('test/fixtures/tls', name), 'utf8');
const [ca, otherCa] = [fixture('ca.crt'), fixture('other-ca.crt')];

let files: KubeconfigFiles;
let folder: string;
let clock: VirtualClock;

beforeEach(() => {
  files = new KubeconfigFiles();
  ({ folder, clock } = files);
});

afterEach(() => files.remove());

describe('finding the kubeconfig', () => {
  const nowhere = { environment: {}, homeDirectory: '/nonexistent' };

  test('rejects a missing file', async () => {
    const path = join(folder, 'absent');
    await expect(files.load(path)).rejects.toThrow(KubeconfigError);
    await expect(files.load(path)).rejects.toThrow(
      `kubeconfig ${path} does not exist: set an existing file with --kubeconfig`,
    );
  });

  test('prefers KUBECONFIG to the home directory, skips its missing files and uses the first entry with a given name', async () => {
    const first = files.write('first', kubeconfig({ server: 'https://first:1' }));
    const second = files.write('second', kubeconfig({ server: 'https://second:1' }));
    const KUBECONFIG = [join(folder, 'absent'), first, second].join(delimiter);
    const endpoint = await loadKubeconfig({ clock, environment: { KUBECONFIG }, homeDirectory: folder });
    expect(endpoint.server).toBe('https://first:1');
  });

  test('rejects KUBECONFIG if none of its files exists', async () => {
    const KUBECONFIG = join(folder, 'absent');
    await expect(loadKubeconfig({ clock, ...nowhere, environment: { KUBECONFIG } })).rejects.toThrow(
      `KUBECONFIG names ${KUBECONFIG}, which does not exist`,
    );
  });

  test('falls back to the home directory', async () => {
    mkdirSync(join(folder, '.kube'));
    const path = files.write('.kube/config', kubeconfig());
    const endpoint = await loadKubeconfig({ clock, environment: {}, homeDirectory: folder });
    expect(endpoint.source).toBe(path);
    expect(endpoint.contextName).toBe('main');
  });

  test('lists the searched locations if no file exists', async () => {
    await expect(loadKubeconfig({ clock, ...nowhere })).rejects.toThrow(
      /KUBECONFIG is not set, .*\.kube.config does not exist.*--kubeconfig/,
    );
  });

  test('names the field of a configuration file to set if no file exists', async () => {
    const pathFrom = 'clientConnection.kubeconfig of scheduler.yaml';
    await expect(loadKubeconfig({ clock, ...nowhere, pathFrom })).rejects.toThrow(
      / set a file with clientConnection\.kubeconfig of scheduler\.yaml$/,
    );
  });

  test('names the field of a configuration file to set if a file of KUBECONFIG cannot be read', async () => {
    const pathFrom = 'clientConnection.kubeconfig of scheduler.yaml';
    await expect(loadKubeconfig({ clock, environment: { KUBECONFIG: folder }, pathFrom })).rejects.toThrow(
      /: make it readable, or set another with clientConnection\.kubeconfig of scheduler\.yaml$/,
    );
  });
});

describe('an invalid kubeconfig', () => {
  test.each([
    ['is empty', '', 'it is empty'],
    ['is not YAML', '{"a": [', 'is not a kubeconfig'],
    ['has no current-context', { ...kubeconfig(), 'current-context': undefined }, 'has no current-context'],
    ['names a context that is absent', { ...kubeconfig(), 'current-context': 'x' }, 'has no context "x": it has main'],
    ['names a cluster that is absent', { ...kubeconfig(), clusters: [] }, 'names cluster "main", which does not exist'],
    ['names a user that is absent', { ...kubeconfig(), users: [] }, 'names user "main", which does not exist'],
    [
      'has a server that is not a URL',
      kubeconfig({ server: '10.0.0.1:6443' }),
      'has server "10.0.0.1:6443"; expected a URL',
    ],
    [
      'has credentials in the server URL',
      kubeconfig({ server: 'https://admin:canary@10.0.0.1:6443' }),
      'cluster "main" has credentials in its server URL: move username and password to the user entry',
    ],
    [
      'has an unsupported proxy',
      kubeconfig({ cluster: { 'proxy-url': 'ftp://p' } }),
      'has a proxy-url with the unsupported scheme ftp: set an http:// or https:// proxy',
    ],
    [
      'has a SOCKS proxy',
      kubeconfig({ cluster: { 'proxy-url': 'socks5://p:1' } }),
      'has a proxy-url with the unsupported scheme socks5',
    ],
    [
      'has a certificate authority that would be ignored',
      kubeconfig({ cluster: { 'certificate-authority-data': btoa('CA'), 'insecure-skip-tls-verify': true } }),
      'has a certificate-authority and insecure-skip-tls-verify, which would ignore it: remove one of the two',
    ],
    [
      'impersonates groups without a user',
      kubeconfig({ user: { 'as-groups': ['a'], 'as-uid': '1' } }),
      'user "main" has as-uid, as-groups without as: set the user to impersonate',
    ],
    [
      'has a plugin of an unsupported version',
      kubeconfig({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1', command: 'x' } } }),
      'user "main": exec has apiVersion "client.authentication.k8s.io/v1alpha1"; expected client.authentication.k8s.io/v1 or',
    ],
    [
      'has a plugin that needs a terminal',
      kubeconfig({
        user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Always' } },
      }),
      'exec has interactiveMode Always, but Tutti has no terminal',
    ],
    [
      'has a plugin without a command',
      kubeconfig({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1' } } }),
      'user "main": exec has no command',
    ],
  ])('that %s is reported with its path and the problem', async (_, content, message) => {
    const path = files.write('config', content);
    const error: unknown = await files.load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect((error as Error).message).toContain(path);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain('canary');
  });

  test('that cannot be read is reported with its path and a remedy', async () => {
    await expect(files.load(folder)).rejects.toThrow(/cannot be read \(EISDIR.*set another with --kubeconfig$/);
  });

  test.each([
    ['is missing', undefined, 'does not exist: correct the path, or make the file readable'],
    ['is empty', '\n', 'is empty: set it to the CA certificate of the cluster'],
    ['is garbage', 'CA', 'contains no certificate in PEM format: set it to the CA certificate of the cluster'],
    [
      'contains a damaged certificate',
      ca + otherCa.replace('MII', 'AAA'),
      'contains an unreadable certificate, number 2',
    ],
  ])('whose CA %s is reported with the cluster and the file', async (_, content, message) => {
    const caFile = join(folder, 'ca.crt');
    if (content !== undefined) files.write('ca.crt', content);
    const path = files.write('config', kubeconfig({ cluster: { 'certificate-authority': 'ca.crt' } }));
    const error: unknown = await files.load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect((error as Error).message).toContain(`${path}: cluster "main": certificate-authority ${caFile} ${message}`);
  });

  test.each([
    ['is not base64', '%%%', 'is not base64: copy it again'],
    ['is garbage', btoa('CA'), 'contains no certificate in PEM format'],
  ])('whose CA data %s is reported with the cluster', async (_, data, message) => {
    const path = files.write('config', kubeconfig({ cluster: { 'certificate-authority-data': data } }));
    await expect(files.load(path)).rejects.toThrow(`${path}: cluster "main": certificate-authority-data ${message}`);
  });

  test.each(['canary\ncanary', 'canary canary', 'canary…'])('with a token that cannot be one: %j', async (token) => {
    const path = files.write('config', kubeconfig({ user: { token } }));
    const error: unknown = await files.load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect((error as Error).message).toMatch(/: the token of user "main" contains .*: copy it again, as one line$/);
    expect((error as Error).message).not.toContain('canary');
  });

  test('with an unreadable token file is reported with the user and the file', async () => {
    const path = files.write('config', kubeconfig({ user: { tokenFile: 'absent' } }));
    const error: unknown = await files.load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeconfigError);
    expect((error as Error).message).toContain(`${path}: the tokenFile of user "main" cannot be read (ENOENT`);
    expect((error as Error).message).toContain(join(folder, 'absent'));
  });

  test('with an empty token file is an error rather than anonymous access', async () => {
    files.write('token', ' \n');
    const path = files.write('config', kubeconfig({ user: { tokenFile: 'token' } }));
    await expect(files.load(path)).rejects.toThrow(
      `${path}: the tokenFile of user "main", ${join(folder, 'token')}, is empty: write the token to it`,
    );
  });
});

describe('the proxy', () => {
  const HTTPS_PROXY = 'http://env.example:3128';

  test('comes from the cluster, or from the environment if the cluster sets none', async () => {
    const own = files.write('own', kubeconfig({ cluster: { 'proxy-url': 'http://own.example:3128' } }));
    const none = files.write('none', kubeconfig());
    const environment = { HTTPS_PROXY };
    expect((await loadKubeconfig({ clock, path: own, environment })).proxyUrl).toBe('http://own.example:3128');
    expect((await loadKubeconfig({ clock, path: none, environment })).proxyUrl).toBe(HTTPS_PROXY);
    const without = { HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' };
    expect((await loadKubeconfig({ clock, path: none, environment: without })).proxyUrl).toBeUndefined();
  });
});

describe('credentials', () => {
  test('are optional: plain HTTP without a user is allowed', async () => {
    const bare = kubeconfig({ server: 'http://127.0.0.1:8080' });
    const path = files.write('config', {
      ...bare,
      users: [],
      contexts: [{ name: 'main', context: { cluster: 'main' } }],
    });
    const endpoint = await files.load(path);
    expect(endpoint.server).toBe('http://127.0.0.1:8080');
    expect((await endpoint.credentials()).headers).toEqual({});
  });

  test('include token, CA, client certificate and server name', async () => {
    const caFile = files.write('ca.crt', ca);
    const cluster = { 'certificate-authority': 'ca.crt', 'tls-server-name': 'kubernetes' };
    const user = { token: 'secret', 'client-certificate-data': btoa('CERT'), 'client-key-data': btoa('KEY') };
    const endpoint = await files.load(files.write('config', kubeconfig({ cluster, user })));
    const { headers, tls } = await endpoint.credentials();
    expect(headers).toEqual({ authorization: 'Bearer secret' });
    expect(String(tls.ca)).toBe(readFileSync(caFile, 'utf8'));
    expect(String(tls.cert)).toBe('CERT');
    expect(String(tls.key)).toBe('KEY');
    expect(tls.servername).toBe('kubernetes');
  });

  test('include a token without the line break after it', async () => {
    const endpoint = await files.load(files.write('config', kubeconfig({ user: { token: 'secret\n' } })));
    expect((await endpoint.credentials()).headers).toEqual({ authorization: 'Bearer secret' });
  });

  test('with a username and password are sent as HTTP basic authentication', async () => {
    const endpoint = await files.load(files.write('config', kubeconfig({ user: { username: 'a', password: 'b' } })));
    expect((await endpoint.credentials()).headers).toEqual({ authorization: `Basic ${btoa('a:b')}` });
  });

  test('impersonate the user, uid, groups and extra fields of the kubeconfig', async () => {
    const user = {
      token: 'mine',
      as: 'jane',
      'as-uid': '7',
      'as-groups': ['a', 'b, c'],
      'as-user-extra': { 'example.com/Scopes': ['read', 'write'] },
    };
    const endpoint = await files.load(files.write('config', kubeconfig({ user })));
    expect((await endpoint.credentials()).headers).toEqual({
      authorization: 'Bearer mine',
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-group': ['a', 'b, c'],
      'impersonate-extra-example.com%2Fscopes': ['read', 'write'],
    });
  });

  test('are reloaded from their files after a minute, and only a new CA changes the TLS key', async () => {
    files.write('ca.crt', ca);
    files.write('token', 'old');
    const cluster = { 'certificate-authority': 'ca.crt' };
    const user = { tokenFile: join(folder, 'token') };
    const endpoint = await files.load(files.write('config', kubeconfig({ cluster, user })));
    const old = await endpoint.credentials();
    files.write('token', 'new');
    expect(await endpoint.credentials()).toBe(old);
    clock.advance(60_000);
    await expect.poll(() => endpoint.credentials()).toMatchObject({ headers: { authorization: 'Bearer new' } });
    expect((await endpoint.credentials()).tlsKey).toBe(old.tlsKey);
    files.write('ca.crt', otherCa);
    clock.advance(60_000);
    await expect.poll(async () => (await endpoint.credentials()).tlsKey).not.toBe(old.tlsKey);
  });

  test.each(['client-certificate', 'client-key'])(
    'that cannot be read are reported with the user: %s',
    async (field) => {
      const data = { 'client-certificate': 'client.crt', 'client-key': 'client.key', [field]: 'absent' };
      for (const name of ['client.crt', 'client.key']) files.write(name, fixture(name));
      const endpoint = await files.load(files.write('config', kubeconfig({ user: data })));
      await expect(endpoint.credentials()).rejects.toThrow(
        `no credentials for user "main": ${field} ${join(folder, 'absent')} does not exist: correct the path, or make the file readable`,
      );
    },
  );
});
