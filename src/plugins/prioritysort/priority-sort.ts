import type { QueueKey } from '../../framework/scheduling-entity.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'PrioritySort';

/**
 * Orders entities: first by higher priority, then partially bound gangs that never started, then longer readiness, then uid, so that the
 * order is total.
 */
class PrioritySort implements Plugin {
  readonly name = name;

  compare(a: QueueKey, b: QueueKey): number {
    if (a.priority !== b.priority) return b.priority - a.priority;
    if (a.incomplete !== b.incomplete) return a.incomplete ? -1 : 1;
    if (a.readySince !== b.readySince) return a.readySince - b.readySince;
    return a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0;
  }
}

export const createPrioritySort: PluginFactory = (args) => {
  noArguments(name).read(args);
  return new PrioritySort();
};
