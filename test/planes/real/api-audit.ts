import { readFile } from 'node:fs/promises';
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
    const text = await readFile(this.#path, 'utf8').catch(() => ''); // nobody has called yet
    // What stands behind the last line's end is still being written.
    const lines = text.split('\n').slice(0, -1);
    return lines.flatMap((line) => {
      if (!line.includes(from)) return [];
      const call = callOf(JSON.parse(line) as AuditEvent);
      return call.user.startsWith(from) ? [call] : [];
    });
  }
}

function callOf({ user, verb, requestURI, objectRef, responseStatus }: AuditEvent): AuditedCall {
  const { apiGroup = '', resource, subresource, name = '' } = objectRef ?? {};
  const path = requestURI.split('?')[0]!;
  return {
    user: user.username,
    verb,
    group: apiGroup,
    resource: resource === undefined ? path : [resource, ...(subresource === undefined ? [] : [subresource])].join('/'),
    name,
    code: responseStatus?.code ?? 0,
  };
}
