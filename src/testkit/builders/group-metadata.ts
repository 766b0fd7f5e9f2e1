import { rfc3339 } from './identity.ts';
import type { Identity } from './identity.ts';

/** What the PodGroups of both APIs have in common. */
export interface GroupIdentity {
  readonly name?: string;
  /** Default: `default`. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Milliseconds since the epoch; default: one second after the previous object. */
  readonly createdAt?: number;
}

export function groupMetadata(
  options: GroupIdentity,
  identity: Identity,
): Readonly<Record<'name' | 'namespace' | 'uid' | 'resourceVersion' | 'creationTimestamp', string>> & {
  readonly generation: number;
} {
  return {
    name: options.name ?? `group-${identity.resourceVersion}`,
    namespace: options.namespace ?? 'default',
    uid: options.uid ?? identity.uid,
    resourceVersion: options.resourceVersion ?? identity.resourceVersion,
    generation: 1,
    creationTimestamp: options.createdAt === undefined ? identity.creationTimestamp : rfc3339(options.createdAt),
  };
}
