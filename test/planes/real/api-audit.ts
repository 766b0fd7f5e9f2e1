import { Buffer } from 'node:buffer';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { auditFiles } from './program-arguments.ts';
import type { RealPlane } from './real-plane.ts';

/** Audits ServiceAccounts only. A watch is recorded when it begins and when it ends. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

/** A request of a ServiceAccount, as the API server understood and answered it. */
export interface AuditedCall {
  /** `system:serviceaccount:NAMESPACE:NAME` */
  readonly user: string;
  readonly verb: string;
  /** API group; empty for the core group and for paths that are not resources. */
  readonly group: string;
  /** `pods`, `pods/binding`; or the path, such as `/version`. */
  readonly resource: string;
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
  /** Time at which the API server received it, in milliseconds since the epoch. */
  readonly at: number;
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
}

/** The audit log of a plane opened with `audited`. Reads each line only once. */
export class ApiAudit {
  readonly #path: string;
  /** namespace -> calls of its ServiceAccounts read so far */
  readonly #calls = new Map<string, AuditedCall[]>();
  /** inode of a file, which survives its renaming -> number of bytes read */
  readonly #read = new Map<number, number>();
  /** The read in progress. */
  #reading: Promise<void> = Promise.resolve();

  constructor({ folder }: Pick<RealPlane, 'folder'>) {
    this.#path = auditFiles(folder).log;
  }

  /** Returns all calls of the ServiceAccounts of a namespace, in the order in which they were answered. */
  async callsFrom(namespace: string): Promise<readonly AuditedCall[]> {
    const reading = this.#reading.then(() => this.#readOn());
    this.#reading = reading.catch(() => undefined);
    await reading;
    return [...(this.#calls.get(namespace) ?? [])];
  }

  async #readOn(): Promise<void> {
    for (const path of await this.#files()) {
      const file = await open(path);
      try {
        const { ino, size } = await file.stat();
        const from = this.#read.get(ino) ?? 0;
        if (size === from) continue;
        const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - from), position: from });
        // The API server may still be writing the last line.
        const whole = buffer.subarray(0, buffer.lastIndexOf(0x0a, bytesRead - 1) + 1);
        this.#read.set(ino, from + whole.length);
        for (const line of whole.toString().split('\n')) if (line !== '') this.#add(callOf(line));
      } finally {
        await file.close();
      }
    }
  }

  #add(call: AuditedCall): void {
    const namespace = /^system:serviceaccount:([^:]+):/.exec(call.user)?.[1];
    if (namespace === undefined) return;
    const calls = this.#calls.get(namespace);
    if (calls === undefined) this.#calls.set(namespace, [call]);
    else calls.push(call);
  }

  /** Returns the log files, oldest first. The API server starts a new file every 100 MB and adds the time to the name of the old one. */
  async #files(): Promise<string[]> {
    const folder = dirname(this.#path);
    const current = basename(this.#path);
    const stem = current.replace(/\.log$/, '-');
    const names = (await readdir(folder)).filter((name) => name.startsWith(stem) && name.endsWith('.log'));
    const hasBegun = (await readdir(folder)).includes(current); // the file does not exist before the first call
    return [...names.sort(), ...(hasBegun ? [current] : [])].map((name) => join(folder, name));
  }
}

function callOf(line: string): AuditedCall {
  const event = JSON.parse(line) as AuditEvent;
  const { user, verb, requestURI, objectRef, responseStatus, requestReceivedTimestamp } = event;
  const { apiGroup = '', resource, subresource, name = '' } = objectRef ?? {};
  const path = requestURI.split('?')[0]!;
  return {
    user: user.username,
    verb,
    group: apiGroup,
    resource: resource === undefined ? path : [resource, ...(subresource === undefined ? [] : [subresource])].join('/'),
    name,
    code: responseStatus?.code ?? 0,
    at: Date.parse(requestReceivedTimestamp),
  };
}
