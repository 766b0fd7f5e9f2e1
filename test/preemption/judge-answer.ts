import type { Instance } from './instance.ts';
import type { Answer } from './preempt-instance.ts';
import { VictimSets } from './victim-sets.ts';

/** What can be wrong with an answer -> how the table names it. The first ones must never happen. */
export const mismatches = {
  illegal: 'a victim that may not go, or a group that would keep some members, but fewer than its quorum',
  unfit: 'the members do not fit on the reserved nodes once the victims are gone',
  vain: 'pods are evicted although no victims help',
  missed: 'no preemption although it would help, and all members are of one kind',
  needless: 'pods are evicted although the preemptor fits once the terminating pods are gone',
  spare: 'the preemptor fits on the reserved nodes although some of the victims stay',
  'missed kinds': 'no preemption although it would help; the members are of several kinds',
  'not minimal': 'the preemptor fits on other nodes although some of the victims stay',
  budget: 'other victims exceed disruption budgets by fewer pods',
  top: 'other victims have a lower highest priority and exceed disruption budgets by no more pods',
} as const;

export type Mismatch = keyof typeof mismatches;

export const mustNotHappen: readonly Mismatch[] = ['illegal', 'unfit', 'vain', 'missed', 'needless', 'spare'];

/** What an exhaustive search says about an answer. */
export interface Judgment {
  /** What happened: it was placed, preempts, waits for terminating pods only, or does neither. */
  readonly kind: 'placed' | 'preempts' | 'waits' | 'rejected';
  readonly found: readonly Mismatch[];
  /** How many more pods are evicted than by the smallest set that is not worse by its budgets or its highest priority. */
  readonly extra: number;
}

export function judgeAnswer(instance: Instance, { isPlanned, victims, nodes }: Answer): Judgment {
  const sets = new VictimSets(instance);
  if (isPlanned) return { kind: 'placed', found: [], extra: 0 };
  if (nodes.size === 0) {
    const isOneKind = new Set(instance.members).size === 1;
    const found: Mismatch[] = victims.length > 0 ? ['illegal'] : [];
    if (sets.exists) found.push(isOneKind ? 'missed' : 'missed kinds');
    return { kind: 'rejected', found, extra: 0 };
  }
  const kind = victims.length > 0 ? 'preempts' : 'waits';
  const set = sets.of(victims);
  if (set === undefined) return { kind, found: ['illegal'], extra: 0 };
  if (!sets.suffices(set)) return { kind, found: [sets.exists ? 'unfit' : 'vain'], extra: 0 };
  const found = new Set<Mismatch>();
  if (nodes.size < instance.needed || !sets.sufficesFor(set, nodes)) found.add('unfit');
  for (const smaller of sets.smallerThan(set)) {
    if (sets.sufficesFor(smaller, nodes)) found.add('spare');
    if (!found.has('not minimal') && sets.suffices(smaller)) found.add(smaller.pods === 0 ? 'needless' : 'not minimal');
    if (found.has('needless')) return { kind, found: ['needless'], extra: set.pods };
  }
  let smallest = set.pods;
  for (const other of sets.all) {
    if (other.violations > set.violations || (other.violations === set.violations && other.top > set.top)) continue;
    const isWorthIt = other.violations < set.violations || other.top < set.top || other.pods < smallest;
    if (!isWorthIt || !sets.suffices(other)) continue;
    if (other.violations < set.violations) found.add('budget');
    else if (other.top < set.top) found.add('top');
    if (other.violations === set.violations) smallest = Math.min(smallest, other.pods);
  }
  return { kind, found: [...found], extra: set.pods - smallest };
}
