import { parseGroupKey } from '../../api/group-key.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { NodeCounts, PreemptionOutcome } from '../../framework/preemption-policy.ts';

/**
 * Returns the verdict's text about a search for victims, in kube-scheduler's words where it has the case. Names only groups of `namespace`,
 * that of the entity.
 */
export function describeOutcome(outcome: PreemptionOutcome, of: SchedulingEntity['kind'], namespace: string): string {
  return `preemption: ${textOf(outcome, of, namespace)}.`;
}

function textOf(outcome: PreemptionOutcome, of: SchedulingEntity['kind'], namespace: string): string {
  switch (outcome.kind) {
    case 'found':
      return foundText(outcome, namespace);
    case 'notHelpful':
      return of === 'pod' ? countedNodes(outcome.nodes) : notHelpfulText(outcome);
    case 'protected':
      return `would need pods ${outcome.why}`;
    case 'tooMany':
      return tooManyText(outcome);
    case 'ended':
      return `search cut short after ${outcome.plans} plans`;
  }
}

function foundText(outcome: Extract<PreemptionOutcome, { kind: 'found' }>, namespace: string): string {
  const { victims, recalled, gangs, members, terminating } = outcome;
  if (victims.length + recalled === 0) return `waiting for ${counted(terminating, 'pod')} to terminate`;
  const own = gangs.filter(({ key }) => parseGroupKey(key).namespace === namespace);
  const others = gangs.length - own.length;
  const groups = [
    ...own.map(({ key }) => `members of ${key}`),
    ...(others === 0 ? [] : [`members of ${counted(others, 'group')} of other namespaces`]),
  ];
  const of = groups.length === 0 ? '' : ` (${groups.join(', ')})`;
  const evicting = victims.length === 0 ? [] : [`evicting ${counted(victims.length, 'pod')}`];
  const recalling =
    recalled === 0
      ? []
      : [`recalling ${counted(recalled, 'pod')} before ${recalled === 1 ? 'it is' : 'they are'} bound`];
  return `${[...recalling, ...evicting].join(' and ')}${of} to place ${counted(members, 'member')}`;
}

function notHelpfulText({ placed, needed, candidates }: Extract<PreemptionOutcome, { kind: 'notHelpful' }>): string {
  if (candidates === 0) return 'no pods of lower priority';
  return `not helpful: ${placed} of ${needed} members fit even with ${counted(candidates, 'pod')} of lower priority gone`;
}

function tooManyText({ victims, groups }: Extract<PreemptionOutcome, { kind: 'tooMany' }>): string {
  const whole = groups === 0 ? '' : ` (${counted(groups, 'whole group')} among them)`;
  return `would need to evict ${counted(victims, 'pod')}${whole}, more than the configuration allows`;
}

/** kube-scheduler's text for a single pod. */
function countedNodes({ all, unsuitable, withoutVictims }: NodeCounts): string {
  const reasons = [
    [unsuitable, 'Preemption is not helpful for scheduling'],
    [withoutVictims, 'No preemption victims found for incoming pod'],
    [all - unsuitable - withoutVictims, 'Insufficient resources without pods of lower priority'],
  ] as const;
  const texts = reasons.filter(([count]) => count > 0).map(([count, reason]) => `${count} ${reason}`);
  return `0/${all} nodes are available: ${texts.sort().join(', ')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
