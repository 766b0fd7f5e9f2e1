import { toKubernetesMicroTime } from '../api/kubernetes-time.ts';
import { MalformedAnswerError } from './api-errors.ts';

/** A Lease in the API's form. Fields not declared here are preserved. */
export interface Lease {
  readonly metadata: { readonly resourceVersion?: string; readonly [field: string]: unknown };
  readonly spec?: LeaseSpec | null;
  readonly [field: string]: unknown;
}

interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
  readonly [field: string]: unknown;
}

/** The holder to write into a Lease. */
export interface LeaseHolder {
  readonly identity: string;
  /** How long others wait after they last saw the Lease change, in milliseconds; written in whole seconds, rounded up. */
  readonly durationMs: number;
  /** Wall clock; only people read it. */
  readonly now: number;
}

/** Checks a Lease in a response and returns it. Throws MalformedAnswerError. */
export function leaseOf(answer: unknown): Lease {
  const lease = answer as Partial<Lease> | null;
  if (typeof lease !== 'object' || typeof lease?.metadata?.resourceVersion !== 'string') {
    throw new MalformedAnswerError('the response holds no Lease with a metadata.resourceVersion');
  }
  return lease as Lease;
}

/** Returns the holder's identity; empty if there is none. */
export function holderOf({ spec }: Lease): string {
  return typeof spec?.holderIdentity === 'string' ? spec.holderIdentity : '';
}

/** Returns how long the holder may be silent before others take the Lease, in milliseconds. */
export function durationOf({ spec }: Lease, defaultMs: number): number {
  const seconds = spec?.leaseDurationSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : defaultMs;
}

/** Returns a text that changes with every sign of life of the holder, but not when others edit the Lease's metadata. */
export function signOfLifeOf({ spec }: Lease): string {
  return JSON.stringify([spec?.holderIdentity, spec?.acquireTime, spec?.renewTime, spec?.leaseTransitions]);
}

/** Returns a new Lease with this holder. */
export function heldLease(namespace: string, name: string, holder: LeaseHolder): Lease {
  const { identity, durationMs, now } = holder;
  const time = toKubernetesMicroTime(now);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    },
  };
}

/** Returns the Lease renewed for its current holder, or taken over by another one. */
export function acquiredOrRenewedLease(lease: Lease, holder: LeaseHolder): Lease {
  const { identity, durationMs, now } = holder;
  const time = toKubernetesMicroTime(now);
  const isRenewal = holderOf(lease) === identity;
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: isRenewal ? (lease.spec?.acquireTime ?? time) : time,
      renewTime: time,
      leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + (isRenewal ? 0 : 1),
    },
  };
}

/** Returns the Lease without a holder: a candidate that sees it may take it at once. */
export function releasedLease(lease: Lease, now: number): Lease {
  const time = toKubernetesMicroTime(now);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time },
  };
}
