import type { AuditedCall } from '../../planes/real/api-audit.ts';

/** A process that wrote: under which user, from when to when. Date.now(). */
export interface WriterLife {
  readonly user: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** When a process wrote first and last. */
interface Term {
  readonly user: string;
  first: number;
  last: number;
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** What an audit log shows that must never be: a pod that was bound twice, or writes of two leaders among each other. */
export function auditProblems(calls: readonly AuditedCall[], lives: readonly WriterLife[]): string[] {
  return [...boundTwice(calls), ...mixedTerms(calls, lives)];
}

/** Bindings that the API server has carried out. */
export function carriedOutBindings(calls: readonly AuditedCall[]): AuditedCall[] {
  return calls.filter(({ verb, resource, code }) => verb === 'create' && resource === 'pods/binding' && code === 201);
}

function boundTwice(calls: readonly AuditedCall[]): string[] {
  const bindings = new Map<string, number>();
  for (const { name } of carriedOutBindings(calls)) bindings.set(name, (bindings.get(name) ?? 0) + 1);
  return [...bindings].flatMap(([name, count]) => (count > 1 ? [`pod ${name} was bound ${count} times`] : []));
}

/** A process leads once in its life, so its writes come in one piece, and nobody else's among them. Writes of the Lease are how that is found out. */
function mixedTerms(calls: readonly AuditedCall[], lives: readonly WriterLife[]): string[] {
  const terms = new Map<WriterLife, Term>();
  for (const { user, verb, resource, at } of calls) {
    if (reads.has(verb) || resource === 'leases' || resource.startsWith('/')) continue;
    const life = lives.find((one) => one.user === user && one.startedAt <= at && at <= one.endedAt);
    if (life === undefined) continue; // the process had been killed while this was on its way
    const term = terms.get(life);
    if (term === undefined) terms.set(life, { user, first: at, last: at });
    else [term.first, term.last] = [Math.min(term.first, at), Math.max(term.last, at)];
  }
  const ordered = [...terms.values()].sort((a, b) => a.first - b.first);
  return ordered.slice(1).flatMap(({ user, first }, index) => {
    const before = ordered[index]!;
    const told = new Date(first).toISOString();
    return first < before.last
      ? [`${told} ${user} writes, and ${before.user} does ${before.last - first} ms later`]
      : [];
  });
}
