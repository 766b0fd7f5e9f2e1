import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import type { CoreHarness } from '../../testkit/core-harness.ts';

/** A PostFilter that answers what the test says. */
export function preempting(answer: (schedulingEntity: SchedulingEntity) => PostFilterResult | undefined): Plugin {
  return { name: 'Preempting', postFilter: (schedulingEntity) => answer(schedulingEntity) };
}

/** What PostFilter answers to have the victims make room for a pod on a node; pods by uid. */
export function capacityFor(
  { cluster }: CoreHarness,
  uid: string,
  nodeName: string,
  victims: readonly string[] = ['old'],
): PostFilterResult {
  return {
    message: 'makes room',
    nominations: [{ pod: cluster.pod(uid)!, nodeName }],
    victims: victims.map((victim) => cluster.pod(victim)!),
  };
}
