import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../base/message-of.ts';
import { CertificateError } from './certificate-error.ts';
import { pemBlocks } from './pem-blocks.ts';
import { readPemFile } from './read-pem-file.ts';

/** What a server shows, and proves that it is its own. */
export interface ServingCertificate {
  /** PEM: the server's own first, then those that lead to an authority. */
  readonly certificates: string;
  /** PEM, not encrypted. */
  readonly key: string;
}

/** Where a certificate and its key are. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** As users know them: `--tls-cert-file`. */
  readonly certFlag: string;
  readonly keyFlag: string;
}

/**
 * Reads a certificate and its key, and makes sure that clients can be served with them at `now` (milliseconds since the epoch). Rejects
 * with CertificateError when one is missing or unreadable, when they do not belong together, or when a certificate has expired or
 * is not valid yet.
 */
export async function readServingCertificate(files: CertificateFiles, now: number): Promise<ServingCertificate> {
  const { certFile, keyFile, certFlag, keyFlag } = files;
  const certificates = await readPemFile(certFile, certFlag);
  const key = await readPemFile(keyFile, keyFlag);
  const chain = readChain(certificates, `${certFlag} ${certFile}`, now);
  if (!chain[0]!.checkPrivateKey(readKey(key, `${keyFlag} ${keyFile}`))) {
    throw new CertificateError(
      `the key of ${keyFlag} ${keyFile} is not that of the first certificate of ${certFlag} ${certFile}: ` +
        "give the two that were made together, the server's own certificate first",
    );
  }
  try {
    createSecureContext({ cert: certificates, key });
  } catch (error) {
    throw new CertificateError(
      `${certFlag} ${certFile} and ${keyFlag} ${keyFile} cannot be served with (${messageOf(error)}): replace them`,
      { cause: error },
    );
  }
  return { certificates, key };
}

function readChain(pem: string, where: string, now: number): readonly X509Certificate[] {
  const blocks = pemBlocks(pem, 'CERTIFICATE');
  if (blocks.length === 0) {
    throw new CertificateError(`${where} has no certificate in it: give a file in PEM, with BEGIN CERTIFICATE lines`);
  }
  return blocks.map((block, index) => {
    const which = `certificate ${index + 1} of ${where}`;
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(block);
    } catch (error) {
      throw new CertificateError(`${which} cannot be read (${messageOf(error)}): replace it`, { cause: error });
    }
    const validFrom = new Date(certificate.validFrom);
    const validTo = new Date(certificate.validTo);
    if (validTo.getTime() <= now) {
      throw new CertificateError(`${which} expired at ${validTo.toISOString()}: replace it by one that is valid`);
    }
    if (validFrom.getTime() > now) {
      throw new CertificateError(
        `${which} is not valid before ${validFrom.toISOString()}: replace it, or set the clock of this machine right`,
      );
    }
    return certificate;
  });
}

function readKey(pem: string, where: string): KeyObject {
  if (!pem.includes('PRIVATE KEY-----')) {
    throw new CertificateError(`${where} has no private key in it: give a file in PEM, with a BEGIN PRIVATE KEY line`);
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = pem.includes('ENCRYPTED');
    const remedy = isEncrypted ? 'give it without a passphrase' : 'replace it';
    throw new CertificateError(`the key of ${where} cannot be read (${messageOf(error)}): ${remedy}`, { cause: error });
  }
}
