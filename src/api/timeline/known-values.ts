import type { GapReason } from './timeline-message.ts';
import { timelineStates } from './timeline-state.ts';
import type { TimelineState } from './timeline-state.ts';
import type { TimelineEntity } from './timeline-entity.ts';
import { transitionKinds } from './transition-kind.ts';
import type { TransitionKind } from './transition-kind.ts';
import type { Transition } from './transition.ts';

const states: ReadonlySet<string> = new Set(timelineStates);
const kinds: ReadonlySet<string> = new Set(transitionKinds);
const gapReasons: ReadonlySet<string> = new Set(['NewLeader', 'SlowClient', 'TooOld'] satisfies GapReason[]);

/** Returns the entity of a server that may be newer: a state that this version does not know becomes `Unknown`. */
export function knownEntity(entity: TimelineEntity): TimelineEntity {
  return states.has(entity.state) ? entity : { ...entity, state: 'Unknown' satisfies TimelineState };
}

/** The same for a transition, for its kind and its state. */
export function knownTransition(transition: Transition): Transition {
  const { kind, state } = transition;
  if (kinds.has(kind) && states.has(state)) return transition;
  return {
    ...transition,
    kind: kinds.has(kind) ? kind : ('Unknown' satisfies TransitionKind),
    state: states.has(state) ? state : 'Unknown',
  };
}

/** The same for the reason of a gap. */
export function knownReason(reason: GapReason): GapReason {
  return gapReasons.has(reason) ? reason : 'Unknown';
}
