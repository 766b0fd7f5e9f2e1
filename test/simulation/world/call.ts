import type { TransportRequest } from '../../../src/client/transport.ts';
import type { CallClass, WatchedResource } from '../scenario.ts';
import type { SimulatedProcess } from './process.ts';

/** One call of a process, from being written to its connection. */
export interface Call {
  readonly process: SimulatedProcess;
  readonly of: CallClass;
  readonly request: TransportRequest;
  readonly sentAt: number;
  /** Up to which version the process had been told of each resource when it sent the call. */
  readonly told: Readonly<Record<WatchedResource, number>>;
  /** What its picture may have been then, which is behind while an attempt is open: `told`, and what it had been told shortly before. */
  readonly views: readonly Readonly<Record<WatchedResource, number>>[];
  /** The caller waits no longer, though it has got no answer: it timed out, lost the connection, or is gone. */
  isGivenUp: boolean;
  /** When it was carried out. */
  doneAt: number | undefined;
  /** What it was answered, or will be; undefined: it was neither carried out nor rejected yet. */
  status: number | undefined;
}

const bindingPath = /\/pods\/[^/]+\/binding$/;

export function classOf({ method, path, connection }: TransportRequest): CallClass {
  if (connection === 'lease' || path.includes('/leases')) return 'lease';
  if (bindingPath.test(path)) return 'bind';
  if (path.includes('/events')) return 'event';
  if (path.includes('/podgroups/') && method === 'PATCH') return 'status';
  if (method === 'PATCH' && path.includes('/pods/')) return 'verdict';
  if (method === 'DELETE') return 'evict';
  if (method === 'GET') return path.includes('/pods/') ? 'read' : 'list';
  return 'other';
}

/** The name of the pod that a call is about; undefined: it is about none. */
export function podIn(path: string): string | undefined {
  return /\/pods\/([^/?]+)/.exec(path)?.[1];
}

/** What a list or watch is of; undefined: nothing that a picture is made of. */
export function watchedResource(path: string): WatchedResource | undefined {
  const end = path.indexOf('?');
  const target = end < 0 ? path : path.slice(0, end);
  if (target === '/api/v1/pods') return 'pods';
  if (target === '/api/v1/nodes') return 'nodes';
  return target.endsWith('/podgroups') ? 'podgroups' : undefined;
}
