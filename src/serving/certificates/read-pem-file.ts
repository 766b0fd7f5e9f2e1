import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../../base/message-of.ts';
import { CertificateError } from './certificate-error.ts';

/** Larger files are none of certificates or keys. */
const mostBytes = 1024 * 1024;

/** Rejects with CertificateError, which names the flag and the file. */
export async function readPemFile(path: string, flag: string): Promise<string> {
  try {
    const about = await stat(path);
    // A pipe or a device may have no end.
    if (!about.isFile()) throw new Error('it is not a file');
    if (about.size > mostBytes) throw new Error('it is too large for a file in PEM');
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CertificateError(
      `${flag} ${path} cannot be read (${messageOf(error)}): correct the path or what may be read there`,
      { cause: error },
    );
  }
}
