import type { Subject } from '../../api/explain/basis.ts';
import type { WaitsFor } from '../../api/verdict.ts';

/** Phrase of a verdict -> what the entity waits for. The first one that the message contains decides. */
const ofUnschedulable: readonly (readonly [RegExp, WaitsFor])[] = [
  [/would not fit even if/i, 'never'],
  [/would fit if all nodes were available/i, 'nodes'],
];
/** The verdict of a group that is rejected by nodes says so if more than capacity is missing. That of a single pod does not. */
const rejectedByNodes = /nodes are available|capacity/i;

/**
 * Returns what an entity waits for, as far as the condition shows that the scheduler has written: its reason, and for some reasons also
 * words of its message. The scheduler itself knows it exactly; the condition does not repeat it.
 */
export function waitsForOf(kind: Subject['kind'], reason: string, message: string): WaitsFor {
  switch (reason) {
    case 'WaitingForGang':
    case 'LabelMissing':
      return message.includes('scheduling gates') ? 'gates' : 'members';
    case 'SchedulingGated':
      return 'gates';
    case 'WaitingForTurn':
      return 'turn';
    case 'SchedulerError':
    case 'InvalidSpec':
      return 'error';
    case 'Unschedulable': {
      const said = ofUnschedulable.find(([phrase]) => phrase.test(message))?.[1];
      return said ?? (kind === 'PodGroup' && rejectedByNodes.test(message) ? 'capacity' : 'unknown');
    }
    default:
      return 'unknown';
  }
}
