import type { AuditedCall } from '../../planes/real/api-audit.ts';

/** The user and the lifetime of a process that wrote. Date.now(). */
export interface WriterLife {
  readonly user: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** First and last write of a process. */
interface Term {
  readonly user: string;
  first: number;
  last: number;
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Returns violations in an audit log: a pod that was bound twice, or interleaved writes of two leaders. */
export function auditProblems(calls: readonly AuditedCall[], lives: readonly WriterLife[]): string[] {
  return [...boundTwice(calls), ...mixedTerms(calls, lives)];
}

/** Returns the Bindings that the API server has carried out. */
export function carriedOutBindings(calls: readonly AuditedCall[]): AuditedCall[] {
  return calls.filter(({ verb, resource, code }) => verb === 'create' && resource === 'pods/binding' && code === 201);
}

function boundTwice(calls: readonly AuditedCall[]): string[] {
  const bindings = new Map<string, number>();
  for (const { name } of carriedOutBindings(calls)) bindings.set(name, (bindings.get(name) ?? 0) + 1);
  return [...bindings].flatMap(([name, count]) => (count > 1 ? [`pod ${name} was bound ${count} times`] : []));
}

/**
 * A process leads only once, so its writes are contiguous, without writes of others between them. Writes of the Lease do not count: they
 * are part of the election.
 */
function mixedTerms(calls: readonly AuditedCall[], lives: readonly WriterLife[]): string[] {
  const terms = new Map<WriterLife, Term>();
  for (const { user, verb, resource, at } of calls) {
    if (reads.has(verb) || resource === 'leases' || resource.startsWith('/')) continue;
    const life = lives.find((one) => one.user === user && one.startedAt <= at && at <= one.endedAt);
    if (life === undefined) continue; // the process was killed while this request was in flight
    const term = terms.get(life);
    if (term === undefined) terms.set(life, { user, first: at, last: at });
    else [term.first, term.last] = [Math.min(term.first, at), Math.max(term.last, at)];
  }
  const ordered = [...terms.values()].sort((a, b) => a.first - b.first);
  return ordered.slice(1).flatMap(({ user, first }, index) => {
    const before = ordered[index]!;
    const time = new Date(first).toISOString();
    return first < before.last
      ? [`${time} ${user} writes, and ${before.user} does ${before.last - first} ms later`]
      : [];
  });
}
