import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import type { CoreHarness } from '../../testkit/core-harness.ts';

/** A PostFilter plugin whose result the test chooses. */
export function preempting(result: (schedulingEntity: SchedulingEntity) => PostFilterResult | undefined): Plugin {
  return { name: 'Preempting', postFilter: (schedulingEntity) => result(schedulingEntity) };
}

/** Returns a PostFilter result that evicts the victims (by uid) for a pod on a node. */
export function capacityFor(
  { cluster }: CoreHarness,
  uid: string,
  nodeName: string,
  victims: readonly string[] = ['old'],
): PostFilterResult {
  return {
    message: 'Preempts pods.',
    nominations: [{ pod: cluster.pod(uid)!, nodeName }],
    victims: victims.map((victim) => cluster.pod(victim)!),
  };
}
