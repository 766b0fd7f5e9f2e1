import { mkdir, rename, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isIP } from 'node:net';
import { messageOf } from '../../base/message-of.ts';
import { CertificateError } from './certificate-error.ts';
import { readServingCertificate } from './serving-certificate.ts';
import type { CertificateFiles, ServingCertificate } from './serving-certificate.ts';

export interface CertificateOptions {
  /** Given together or not at all. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Where a certificate that is made is kept, and found again. Absent: it is kept in memory. */
  readonly certDir?: string;
  /** Of the files in that folder: `tutti-scheduler`. */
  readonly pairName: string;
  /** A certificate that is made is good for it too, where it is the address of one machine. */
  readonly bindAddress: string;
}

export interface ProvidedCertificate {
  readonly certificate: ServingCertificate;
  /** Where it is read from again; absent: nowhere. */
  readonly files?: CertificateFiles;
}

const flags = { certFlag: '--tls-cert-file', keyFlag: '--tls-private-key-file' } as const;
/** Nobody can trust one in memory beforehand, so that its age says nothing; one in a folder can be handed out. */
const yearsInMemory = 10;
const yearsInFolder = 1;

/**
 * The certificate to serve with: the one in the files given, else the one in the folder given, which is made when it is not there, else one
 * made for this process alone. `now` is in milliseconds since the epoch. Rejects with CertificateError.
 */
export async function provideCertificate(
  certificateOptions: CertificateOptions,
  now: number,
): Promise<ProvidedCertificate> {
  const { certFile, keyFile, certDir, pairName } = certificateOptions;
  if (certFile !== undefined || keyFile !== undefined) {
    if (certFile === undefined) throw new CertificateError(missing(flags.keyFlag, flags.certFlag));
    if (keyFile === undefined) throw new CertificateError(missing(flags.certFlag, flags.keyFlag));
    const files = { certFile, keyFile, ...flags };
    return { certificate: await readServingCertificate(files, now), files };
  }
  if (certDir === undefined) return { certificate: await make(certificateOptions, now, yearsInMemory) };
  const files = {
    certFile: join(certDir, `${pairName}.crt`),
    keyFile: join(certDir, `${pairName}.key`),
    certFlag: '--cert-dir',
    keyFlag: '--cert-dir',
  };
  const [hasCertificate, hasKey] = [existsSync(files.certFile), existsSync(files.keyFile)];
  if (hasCertificate !== hasKey) {
    const [there, gone] = hasCertificate ? [files.certFile, files.keyFile] : [files.keyFile, files.certFile];
    throw new CertificateError(`--cert-dir ${certDir} has ${there} and no ${gone}: add that, or remove the other`);
  }
  if (!hasCertificate) await keep(await make(certificateOptions, now, yearsInFolder), files, certDir);
  return { certificate: await readServingCertificate(files, now), files };
}

function missing(given: string, other: string): string {
  return `${given} is given without ${other}: give both, or neither to serve with a certificate made at the start`;
}

async function make({ bindAddress }: CertificateOptions, now: number, years: number): Promise<ServingCertificate> {
  // Loaded when it is called for: whoever has a certificate has no use for what makes one.
  const { makeSelfSignedCertificate } = await import('./self-signed-certificate.ts');
  const isOfAllMachines = bindAddress === '0.0.0.0' || bindAddress === '::';
  const own = isOfAllMachines ? [] : [bindAddress];
  const names = new Set(['localhost', '127.0.0.1', '::1', hostname().toLowerCase(), ...own]);
  return makeSelfSignedCertificate([...names].filter(isName), now, years);
}

function isName(name: string): boolean {
  return isIP(name) !== 0 || /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

/** Each file appears whole. */
async function keep(
  { certificates, key }: ServingCertificate,
  { certFile, keyFile }: CertificateFiles,
  folder: string,
): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [path, text, mode] of [
      [keyFile, key, 0o600],
      [certFile, certificates, 0o644],
    ] as const) {
      await writeFile(`${path}.new`, text, { mode });
      await rename(`${path}.new`, path);
    }
  } catch (error) {
    throw new CertificateError(
      `--cert-dir ${folder} cannot take the certificate that was made (${messageOf(error)}): ` +
        'make the folder writable, or leave the flag out to keep the certificate in memory',
      { cause: error },
    );
  }
}
