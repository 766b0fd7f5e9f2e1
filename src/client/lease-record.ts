import { toKubernetesMicroTime } from '../api/kubernetes-time.ts';
import { MalformedAnswerError } from './api-errors.ts';

/** A Lease as the API has it; what is not named here is kept as it is. */
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

/** What is to be written into a Lease. */
export interface LeaseClaim {
  readonly identity: string;
  /** How long others wait after they last saw it change, in milliseconds; written in whole seconds, rounded up. */
  readonly durationMs: number;
  /** Wall clock, for people alone. */
  readonly now: number;
}

/** Checks what the server answered. */
export function leaseOf(answer: unknown): Lease {
  const lease = answer as Partial<Lease> | null;
  if (typeof lease !== 'object' || typeof lease?.metadata?.resourceVersion !== 'string') {
    throw new MalformedAnswerError('a Lease was answered without metadata.resourceVersion');
  }
  return lease as Lease;
}

/** Who holds it; empty: nobody. */
export function holderOf({ spec }: Lease): string {
  return typeof spec?.holderIdentity === 'string' ? spec.holderIdentity : '';
}

/** How long its holder may be silent before others take it, in milliseconds. */
export function durationOf({ spec }: Lease, otherwiseMs: number): number {
  const seconds = spec?.leaseDurationSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : otherwiseMs;
}

/** Changes whenever the holder shows a sign of life, and with nothing that others do to the Lease's metadata. */
export function signOfLifeOf({ spec }: Lease): string {
  return JSON.stringify([spec?.holderIdentity, spec?.acquireTime, spec?.renewTime, spec?.leaseTransitions]);
}

/** A new Lease that is held. */
export function heldLease(namespace: string, name: string, claim: LeaseClaim): Lease {
  const { identity, durationMs, now } = claim;
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

/** The Lease with its holder's sign of life: the same holder renews it, another one takes it over. */
export function claimedLease(lease: Lease, claim: LeaseClaim): Lease {
  const { identity, durationMs, now } = claim;
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

/** The Lease given up: whoever sees it may take it at once. */
export function releasedLease(lease: Lease, now: number): Lease {
  const time = toKubernetesMicroTime(now);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time },
  };
}
