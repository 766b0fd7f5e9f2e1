import { readFile } from 'node:fs/promises';
import { messageOf } from '../../base/message-of.ts';
import { CertificateError } from './certificate-error.ts';

/** Larger files are none of certificates or keys. */
const mostBytes = 1024 * 1024;

/** Rejects with CertificateError, which names the flag and the file. */
export async function readPemFile(path: string, flag: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CertificateError(
      `${flag} ${path} cannot be read (${messageOf(error)}): correct the path or what may be read there`,
      { cause: error },
    );
  }
  if (text.length > mostBytes)
    throw new CertificateError(`${flag} ${path} is too large for a file in PEM: give another`);
  return text;
}
