import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'SchedulingGates';

/** Keeps a single pod out of the active queue while it has scheduling gates. The readiness of a gang covers its gated members. */
class SchedulingGates implements Plugin {
  readonly name = name;

  preEnqueue(schedulingEntity: SchedulingEntity): Status | undefined {
    if (schedulingEntity.kind === 'gang' || schedulingEntity.pod.schedulingGates.length === 0) return undefined;
    const reason = `waiting for scheduling gates: [${schedulingEntity.pod.schedulingGates.join(' ')}]`;
    return new Status('UnschedulableAndUnresolvable', reason, name);
  }
}

export const createSchedulingGates: PluginFactory = (args) => {
  noArguments(name).read(args);
  return new SchedulingGates();
};
