import type { Pod } from '../../api/pod.ts';
import type { ClusterEvent, EventRegistration } from '../../framework/cluster-event.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'SchedulingGates';

/** Keeps a lone pod out of the queue while it has scheduling gates. A gang counts its gated members in its own readiness. */
class SchedulingGates implements Plugin {
  readonly name = name;

  preEnqueue(candidate: Candidate): Status | undefined {
    if (candidate.kind === 'gang' || candidate.pod.schedulingGates.length === 0) return undefined;
    const reason = `waiting for scheduling gates: [${candidate.pod.schedulingGates.join(' ')}]`;
    return new Status('UnschedulableAndUnresolvable', reason, name);
  }

  eventsToRegister(): readonly EventRegistration[] {
    return [{ resource: 'UnscheduledPod', actions: ['Update'], hint: ownGatesAreGone }];
  }
}

function ownGatesAreGone(pod: Pod, event: ClusterEvent): boolean {
  return event.resource === 'UnscheduledPod' && event.pod.uid === pod.uid && event.pod.schedulingGates.length === 0;
}

export const createSchedulingGates: PluginFactory = (args) => {
  noArguments(name).read(args);
  return new SchedulingGates();
};
