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
  /** Set both or neither. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Folder in which a generated certificate is stored and found again. Absent: it stays in memory. */
  readonly certDir?: string;
  /** Base name of the files in that folder: `tutti-scheduler`. */
  readonly pairName: string;
  /** A generated certificate also includes this address, unless it means all addresses. */
  readonly bindAddress: string;
}

export interface ProvidedCertificate {
  readonly certificate: ServingCertificate;
  /** The files to read it from again; absent: none. */
  readonly files?: CertificateFiles;
}

const flags = { certFlag: '--tls-cert-file', keyFlag: '--tls-private-key-file' } as const;
/** No client can trust an in-memory certificate in advance, so its age does not matter. One in a folder can be distributed. */
const yearsInMemory = 10;
const yearsInFolder = 1;

/**
 * Returns the serving certificate: that of the given files, or that of the given folder (generated if missing), or one generated
 * for this process only. `now` is in milliseconds since the epoch. Rejects with CertificateError.
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
    const [present, absent] = hasCertificate ? [files.certFile, files.keyFile] : [files.keyFile, files.certFile];
    throw new CertificateError(
      `--cert-dir ${certDir} has ${present} but no ${absent}: add the missing file, or remove the other`,
    );
  }
  if (!hasCertificate) await keep(await make(certificateOptions, now, yearsInFolder), files, certDir);
  return { certificate: await readServingCertificate(files, now), files };
}

function missing(given: string, other: string): string {
  return `${given} is set without ${other}: set both, or neither to use a generated certificate`;
}

async function make({ bindAddress }: CertificateOptions, now: number, years: number): Promise<ServingCertificate> {
  // Imported on first use: with a given certificate the generator is not needed.
  const { makeSelfSignedCertificate } = await import('./self-signed-certificate.ts');
  const isUnspecified = bindAddress === '0.0.0.0' || bindAddress === '::';
  const own = isUnspecified ? [] : [bindAddress];
  const names = new Set(['localhost', '127.0.0.1', '::1', hostname().toLowerCase(), ...own]);
  return makeSelfSignedCertificate([...names].filter(isName), now, years);
}

function isName(name: string): boolean {
  return isIP(name) !== 0 || /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

/** Stores a generated certificate. Each file appears atomically. */
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
      `cannot write the generated certificate to --cert-dir ${folder} (${messageOf(error)}): ` +
        'make the folder writable, or omit the flag to keep the certificate in memory',
      { cause: error },
    );
  }
}
