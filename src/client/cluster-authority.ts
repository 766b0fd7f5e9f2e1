import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster } from '@kubernetes/client-node';
import { messageOf } from '../base/message-of.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

const certificate = /-----BEGIN (?:X509 )?CERTIFICATE-----[^]*?-----END (?:X509 )?CERTIFICATE-----/g;

/**
 * Returns the CAs of a cluster in PEM, or undefined if it has none. Throws a KubeconfigError unless all of them are certificates: TLS would
 * skip the others, and then reject the server. `where` is the cluster, for the message.
 */
export function clusterAuthority(where: string, { caData, caFile }: Cluster): string | undefined {
  if (!caData && !caFile) return undefined;
  const field = caData ? 'certificate-authority-data' : `certificate-authority ${caFile}`;
  const reject = (problem: string, cause?: unknown): never => {
    throw new KubeconfigError(`${where}: ${field} ${problem}`, { cause });
  };
  let pem: string;
  try {
    pem = caData ? atob(caData) : readFileSync(caFile!, 'utf8');
  } catch (cause) {
    if (caData) return reject('is not base64: copy it again', cause);
    return reject(fileProblem(cause), cause);
  }
  const found = pem.match(certificate) ?? [];
  if (found.length === 0) {
    const problem = pem.trim() === '' ? 'is empty' : 'contains no certificate in PEM format';
    return reject(`${problem}: set it to the CA certificate of the cluster`);
  }
  for (const [index, text] of found.entries()) {
    try {
      new X509Certificate(text);
    } catch (cause) {
      return reject(`contains an unreadable certificate, number ${index + 1}: copy it again`, cause);
    }
  }
  return pem;
}

/** Says why a file of the kubeconfig could not be read, and what to do. */
export function fileProblem(cause: unknown): string {
  const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
  const problem = isMissing ? 'does not exist' : `cannot be read (${messageOf(cause)})`;
  return `${problem}: correct the path, or make the file readable`;
}
