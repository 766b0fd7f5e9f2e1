import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { auditFiles } from './program-arguments.ts';
import type { RealPlane } from './real-plane.ts';

/** ServiceAccounts are looked at, nobody else. A watch is written down when it begins and when it ends. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

/** A request of a ServiceAccount, as the API server has understood and answered it. */
export interface AuditedCall {
  /** `system:serviceaccount:NAMESPACE:NAME` */
  readonly user: string;
  readonly verb: string;
  /** Of the API; empty for the core's, and where a path is asked for that is no resource. */
  readonly group: string;
  /** `pods`, `pods/binding`; or the path, such as `/version`. */
  readonly resource: string;
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
  /** When the API server received it, in milliseconds since the epoch. */
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

/** The audit log of a plane that was opened with `audited`. */
export class ApiAudit {
  readonly #path: string;

  constructor({ folder }: Pick<RealPlane, 'folder'>) {
    this.#path = auditFiles(folder).log;
  }

  /** All calls of the ServiceAccounts of a namespace, in the order in which they were answered. */
  async callsFrom(namespace: string): Promise<readonly AuditedCall[]> {
    const from = `system:serviceaccount:${namespace}:`;
    const calls: AuditedCall[] = [];
    for (const path of await this.#files()) {
      for await (const line of createInterface({ input: createReadStream(path) })) {
        if (!line.includes(from)) continue;
        const call = callOf(line);
        if (call?.user.startsWith(from) === true) calls.push(call);
      }
    }
    return calls;
  }

  /** The API server begins a new one every 100 MB, and puts the time into the name of the old one. */
  async #files(): Promise<string[]> {
    const folder = dirname(this.#path);
    const current = basename(this.#path);
    const stem = current.replace(/\.log$/, '-');
    const names = (await readdir(folder)).filter((name) => name.startsWith(stem) && name.endsWith('.log'));
    const hasBegun = (await readdir(folder)).includes(current); // nobody may have called yet
    return [...names.sort(), ...(hasBegun ? [current] : [])].map((name) => join(folder, name));
  }
}

/** Undefined for a line that is still being written. */
function callOf(line: string): AuditedCall | undefined {
  let event: AuditEvent;
  try {
    event = JSON.parse(line) as AuditEvent;
  } catch {
    return undefined;
  }
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
