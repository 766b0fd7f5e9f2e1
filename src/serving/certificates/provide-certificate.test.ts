import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, rename, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { PolledValue } from './polled-value.ts';
import { provideCertificate } from './provide-certificate.ts';
import type { CertificateOptions } from './provide-certificate.ts';
import { makeSelfSignedCertificate } from './self-signed-certificate.ts';
import { readServingCertificate } from './serving-certificate.ts';

let folder: string;
const now = Date.UTC(2030, 0, 1);
const year = 365 * 24 * 3_600_000;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-certificates-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const certificateOptions = (given: Partial<CertificateOptions> = {}): CertificateOptions => ({
  pairName: 'tutti-scheduler',
  bindAddress: '0.0.0.0',
  ...given,
});

describe('a generated certificate', () => {
  it('is valid for this machine, for years, and only for servers', async () => {
    const { certificate, files } = await provideCertificate(certificateOptions({ bindAddress: '192.0.2.7' }), now);
    expect(files).toBeUndefined();
    const made = new X509Certificate(certificate.certificates);
    for (const host of ['localhost', hostname().toLowerCase()]) expect(made.checkHost(host)).toBe(host);
    for (const address of ['127.0.0.1', '::1', '192.0.2.7']) expect(made.checkIP(address)).toBe(address);
    expect(made.verify(made.publicKey)).toBe(true);
    expect(made.ca).toBe(false);
    expect(made.publicKey.asymmetricKeyType).toBe('ec');
    expect(new Date(made.validFrom).getTime()).toBeLessThan(now);
    expect(new Date(made.validTo).getTime()).toBeGreaterThan(now + 9 * year);
    createSecureContext({ cert: certificate.certificates, key: certificate.key });
  });

  it('is stored in the folder, with a key that only its owner can read, and found again', async () => {
    const certDir = join(folder, 'new', 'certs');
    const first = await provideCertificate(certificateOptions({ certDir }), now);
    const again = await provideCertificate(certificateOptions({ certDir }), now + 1_000);
    expect(again.certificate).toEqual(first.certificate);
    expect((await stat(join(certDir, 'tutti-scheduler.key'))).mode & 0o777).toBe(0o600);
    expect(first.files).toMatchObject({ certFile: join(certDir, 'tutti-scheduler.crt') });
  });
});

describe('reports the flag and the file of', () => {
  it.each([
    [
      'a certificate without a key',
      { certFile: 'a' },
      '--tls-cert-file is set without --tls-private-key-file: set both',
    ],
    [
      'a key without a certificate',
      { keyFile: 'a' },
      '--tls-private-key-file is set without --tls-cert-file: set both',
    ],
    [
      'a missing file',
      { certFile: '/no/file', keyFile: '/no/key' },
      /^--tls-cert-file \/no\/file cannot be read \(ENOENT.*\): correct/,
    ],
    ['a folder', { certFile: '/', keyFile: '/' }, /^--tls-cert-file \/ cannot be read \(it is not a file\)/],
    [
      'a device',
      { certFile: '/dev/zero', keyFile: '/' },
      /^--tls-cert-file \/dev\/zero cannot be read \(it is not a file\)/,
    ],
  ])('%s', async (_, given, message) => {
    await expect(provideCertificate(certificateOptions(given), now)).rejects.toMatchObject({
      name: 'CertificateError',
      message:
        message instanceof RegExp ? (expect.stringMatching(message) as string) : expect.stringContaining(message),
    });
  });

  it.each([
    ['an empty file', '', 'ok', 'contains no certificate'],
    ['a key in place of the certificate', 'key', 'key', 'contains no certificate'],
    ['a certificate in place of the key', 'ok', 'ok-certificate', 'contains no private key'],
    ['a damaged certificate', 'damaged', 'key', 'certificate 1 of --tls-cert-file'],
    ['a damaged key', 'ok', 'damaged', 'the key of --tls-private-key-file'],
    ['an encrypted key', 'ok', 'encrypted', 'without a passphrase'],
    ['the key of another certificate', 'ok', 'other', 'does not match the first certificate'],
    ['an expired certificate', 'expired', 'key', 'expired at 20'],
    ['a certificate that is not valid yet', 'early', 'key', 'is not valid before 20'],
  ])('%s', async (_, certificate, key, message) => {
    const good = await makeSelfSignedCertificate(['localhost'], now, 1);
    const other = await makeSelfSignedCertificate(['localhost'], now, 1);
    const texts: Readonly<Record<string, string>> = {
      '': '',
      ok: good.certificates,
      'ok-certificate': good.certificates,
      key: good.key,
      other: other.key,
      expired: good.certificates,
      early: good.certificates,
      damaged: `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`,
      encrypted: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n',
    };
    const at = certificate === 'expired' ? now + 2 * year : certificate === 'early' ? now - year : now;
    const certFile = await file('tls.crt', texts[certificate]!);
    const keyFile = await file('tls.key', texts[key === 'ok' ? 'key' : key]!);
    const error = await provideCertificate(certificateOptions({ certFile, keyFile }), at).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'CertificateError', message: expect.stringContaining(message) as string });
    expect((error as Error).message).toContain(folder);
  });

  it('a folder with half of a pair, or an unwritable folder', async () => {
    await writeFile(join(folder, 'tutti-scheduler.crt'), 'x');
    await expect(provideCertificate(certificateOptions({ certDir: folder }), now)).rejects.toThrow(
      /--cert-dir .* has .*\.crt but no .*\.key: add the missing file, or remove the other/,
    );
    const certDir = await file('a-file', '');
    await expect(provideCertificate(certificateOptions({ certDir }), now)).rejects.toThrow(
      /cannot write the generated certificate to --cert-dir .*a-file \(E.*make the folder writable/,
    );
  });
});

it('detects a change of a mounted Secret through its symbolic link, and skips a broken version', async () => {
  const clock = new VirtualClock();
  const [first, second] = [
    await makeSelfSignedCertificate(['a'], now, 1),
    await makeSelfSignedCertificate(['b'], now, 1),
  ];
  const publish = async (name: string, certificates: string, key: string): Promise<void> => {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'tls.crt'), certificates);
    await writeFile(join(folder, name, 'tls.key'), key);
    await symlink(name, join(folder, '..data.new'));
    await rename(join(folder, '..data.new'), join(folder, '..data'));
  };
  await publish('one', first.certificates, first.key);
  for (const name of ['tls.crt', 'tls.key']) await symlink(join('..data', name), join(folder, name));
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const { certificate, files } = await provideCertificate(certificateOptions({ certFile, keyFile }), now);
  const seen: string[] = [];
  const failures: string[] = [];
  const polled = new PolledValue({
    clock,
    everyMs: 10_000,
    read: () => readServingCertificate(files!, now),
    current: certificate,
    keyOf: ({ certificates }) => certificates,
    changed: ({ certificates }) => void seen.push(certificates),
    failed: (error) => void failures.push((error as Error).message),
  });
  await polled.poll();
  await publish('broken', second.certificates, first.key);
  await polled.poll();
  await polled.poll();
  expect([seen, failures]).toEqual([[], [expect.stringContaining('does not match the first certificate')]]);
  await publish('two', second.certificates, second.key);
  await polled.poll();
  expect(seen).toEqual([await readFile(certFile, 'utf8')]);
  polled.stop();
});
