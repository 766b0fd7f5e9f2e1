import type { TransportRequest } from '../../../src/client/transport.ts';
import type { CallClass, WatchedResource } from '../scenario.ts';
import type { SimulatedProcess } from './process.ts';

/** One call of a process, from the moment it is written to its connection. */
export interface Call {
  readonly process: SimulatedProcess;
  readonly of: CallClass;
  readonly request: TransportRequest;
  readonly sentAt: number;
  /** When the process handed it to its connection, which may have had to be opened first, and what it had received by then. */
  readonly begun: { readonly at: number; readonly seen: Readonly<Record<WatchedResource, number>> };
  /** Latest version of each resource that had reached the process when it sent the call. */
  readonly seen: Readonly<Record<WatchedResource, number>>;
  /**
   * Versions that the process may have planned on: `seen`, and those that had reached it shortly before, because the snapshot is older
   * while an attempt is open.
   */
  readonly views: readonly Readonly<Record<WatchedResource, number>>[];
  /** Like `views`, but all that the process had while it last ran for `lastMs` milliseconds. Only when it is sent. */
  readonly viewsOf: (lastMs: number) => readonly Readonly<Record<WatchedResource, number>>[];
  /** All versions that the process has received, oldest first. Grows. A watch brings each version, a list skips those before it. */
  readonly received: readonly Readonly<Record<WatchedResource, number>>[];
  /** The caller no longer waits for an answer: it timed out, lost the connection, or is gone. */
  isGivenUp: boolean;
  /** When it was carried out. */
  doneAt: number | undefined;
  /** Status of the answer, sent or pending; undefined: not carried out or rejected yet. */
  status: number | undefined;
}

/** In the body of a patch that marks a victim, or takes the mark back. */
const marker = '"DisruptionTarget"';
const bindingPath = /\/pods\/[^/]+\/binding$/;

export function classOf({ method, path, connection, body }: TransportRequest): CallClass {
  if (connection === 'lease' || path.includes('/leases')) return 'lease';
  if (bindingPath.test(path)) return 'bind';
  if (path.includes('/events')) return 'event';
  if (path.includes('/podgroups/') && method === 'PATCH') return 'status';
  if (method === 'PATCH' && path.includes('/pods/')) return String(body).includes(marker) ? 'mark' : 'verdict';
  if (method === 'DELETE' || path.endsWith('/eviction')) return 'evict';
  if (method === 'GET') return path.includes('/pods/') ? 'read' : 'list';
  return 'other';
}

/** Returns the name of the pod that a call is about; undefined: none. */
export function podIn(path: string): string | undefined {
  return /\/pods\/([^/?]+)/.exec(path)?.[1];
}

/** Returns the namespace and name of the pod of a path below a pod. */
export function podKeyIn(path: string): string {
  return path.replace(/^.*\/namespaces\/([^/]+)\/pods\/([^/?]+).*$/, '$1/$2');
}

/** Returns the resource of a list or watch; undefined: the checkers do not track it. */
export function watchedResource(path: string): WatchedResource | undefined {
  const end = path.indexOf('?');
  const target = end < 0 ? path : path.slice(0, end);
  if (target === '/api/v1/pods') return 'pods';
  if (target === '/api/v1/nodes') return 'nodes';
  if (target.startsWith('/apis/scheduling.k8s.io/'))
    return target.endsWith('/podgroups') ? 'nativepodgroups' : undefined;
  return target.endsWith('/podgroups') ? 'podgroups' : undefined;
}
