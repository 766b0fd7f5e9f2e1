import { podSubject, subjectOfGroup } from '../../../scheduler/explain/subjects.ts';
import type { SchedulerCore } from '../../../scheduler/scheduler-core.ts';
import { displacedFrom, groupsOf } from './drain-forecast.ts';
import type { DrainForecast } from './drain-forecast.ts';

/**
 * Returns what a drain evicts, for a caller who may list only the pods of one namespace: whether the pods fit elsewhere is unknown, and so is
 * whether the nodes exist. Begins the core.
 */
export function visibleDrain(core: SchedulerCore, names: readonly string[]): DrainForecast {
  core.begin();
  const { cluster, profiles, handlers } = core;
  const displaced = displacedFrom([...cluster.pods()].filter(({ nodeName }) => names.includes(nodeName)));
  const groups = groupsOf(core, displaced);
  for (const pod of displaced) handlers.pods.onDelete(pod, false);
  return {
    items: [...groups].map(([key, here]) => {
      const { spec, counted } = cluster.gang(key)!;
      const subject = subjectOfGroup(key, spec?.uid);
      return { subject, here, after: counted, minMember: spec!.minMember, assignments: [] };
    }),
    lost: displaced.filter(({ controller }) => controller === undefined).map(podSubject),
    notJudged: displaced.filter(({ schedulerName }) => !profiles.isOurs(schedulerName)).length,
    displaced,
    isComplete: true,
  };
}
