import { X509Certificate } from 'node:crypto';
import { messageOf } from '../../base/message-of.ts';
import { pemBlocks } from '../certificates/pem-blocks.ts';
import { CertificateError } from '../certificates/certificate-error.ts';

/** Returns the certificates of a PEM bundle, one per element. Throws CertificateError, which names the flag and the file. */
export function authoritiesIn(pem: string, flag: string, file: string): readonly string[] {
  const blocks = pemBlocks(pem, 'CERTIFICATE');
  const where = `${flag} ${file}`;
  if (blocks.length === 0) {
    throw new CertificateError(`${where} contains no certificate: use a PEM file with BEGIN CERTIFICATE lines`);
  }
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (error) {
      throw new CertificateError(
        `certificate ${index + 1} of ${where} cannot be read (${messageOf(error)}): replace it`,
        {
          cause: error,
        },
      );
    }
  }
  return blocks;
}
