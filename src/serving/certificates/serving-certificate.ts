import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../base/message-of.ts';
import { CertificateError } from './certificate-error.ts';
import { pemBlocks } from './pem-blocks.ts';
import { readPemFile } from './read-pem-file.ts';

/** The certificate and key of a server. */
export interface ServingCertificate {
  /** PEM: the server's own certificate first, then the intermediate ones. */
  readonly certificates: string;
  /** PEM, not encrypted. */
  readonly key: string;
}

/** The files of a certificate and its key, with the flags that set them. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The flag as users write it: `--tls-cert-file`. */
  readonly certFlag: string;
  readonly keyFlag: string;
}

/**
 * Reads a certificate and its key, and checks that they are usable at `now` (milliseconds since the epoch). Rejects with
 * CertificateError if one is missing or unreadable, if they do not match, or if a certificate has expired or is not valid yet.
 */
export async function readServingCertificate(files: CertificateFiles, now: number): Promise<ServingCertificate> {
  const { certFile, keyFile, certFlag, keyFlag } = files;
  const certificates = await readPemFile(certFile, certFlag);
  const key = await readPemFile(keyFile, keyFlag);
  const chain = readChain(certificates, `${certFlag} ${certFile}`, now);
  if (!chain[0]!.checkPrivateKey(readKey(key, `${keyFlag} ${keyFile}`))) {
    throw new CertificateError(
      `the key of ${keyFlag} ${keyFile} does not match the first certificate of ${certFlag} ${certFile}: ` +
        "use a matching pair, with the server's own certificate first",
    );
  }
  try {
    createSecureContext({ cert: certificates, key });
  } catch (error) {
    throw new CertificateError(
      `${certFlag} ${certFile} and ${keyFlag} ${keyFile} are unusable (${messageOf(error)}): replace them`,
      { cause: error },
    );
  }
  return { certificates, key };
}

function readChain(pem: string, where: string, now: number): readonly X509Certificate[] {
  const blocks = pemBlocks(pem, 'CERTIFICATE');
  if (blocks.length === 0) {
    throw new CertificateError(`${where} contains no certificate: use a PEM file with BEGIN CERTIFICATE lines`);
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
      throw new CertificateError(`${which} expired at ${validTo.toISOString()}: replace it with a valid one`);
    }
    if (validFrom.getTime() > now) {
      throw new CertificateError(
        `${which} is not valid before ${validFrom.toISOString()}: replace it, or correct the clock of this machine`,
      );
    }
    return certificate;
  });
}

function readKey(pem: string, where: string): KeyObject {
  if (!pem.includes('PRIVATE KEY-----')) {
    throw new CertificateError(`${where} contains no private key: use a PEM file with a BEGIN PRIVATE KEY line`);
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = pem.includes('ENCRYPTED');
    const remedy = isEncrypted ? 'use a key without a passphrase' : 'replace it';
    throw new CertificateError(`the key of ${where} cannot be read (${messageOf(error)}): ${remedy}`, { cause: error });
  }
}
