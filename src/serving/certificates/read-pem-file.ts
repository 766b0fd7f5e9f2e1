import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../../base/message-of.ts';
import { CertificateError } from './certificate-error.ts';

/** Maximum size of a file with certificates or keys. */
const maxBytes = 1024 * 1024;

/** Reads a PEM file. Rejects with CertificateError, which names the flag and the file. */
export async function readPemFile(path: string, flag: string): Promise<string> {
  try {
    const about = await stat(path);
    // A pipe or a device may never end.
    if (!about.isFile()) throw new Error('it is not a file');
    if (about.size > maxBytes) throw new Error('it is too large for a PEM file');
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CertificateError(
      `${flag} ${path} cannot be read (${messageOf(error)}): correct the path or the permissions`,
      { cause: error },
    );
  }
}
