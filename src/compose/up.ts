import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import { enableOwn } from './own-plugins.ts';
import { startPlane } from './plane.ts';
import type { PlaneOptions, RunningPlane } from './plane.ts';

export interface UpPlaneOptions extends Omit<PlaneOptions, 'profiles'> {
  /** Without Coscheduling, to show how a scheduler without gang scheduling behaves. */
  readonly naive: boolean;
  /** False: another scheduler must schedule the pods. */
  readonly scheduler: boolean;
}

/** Also schedules pods that name no scheduler, because there is no other one. */
const schedulerNames = ['tutti', 'default-scheduler'];

/** Starts the plane of `tutti up`, with the same results as `startPlane`. */
export function startUpPlane({ naive, scheduler, ...options }: UpPlaneOptions): Promise<RunningPlane> {
  if (!scheduler) return startPlane({ ...options, profiles: undefined });
  const profiles = schedulerNames.map((name) => (naive ? withoutGangs(name) : defaultProfile(name)));
  return startPlane({ ...options, profiles: enableOwn(profiles, options.plugins ?? []) });
}

/** Returns a profile that schedules every pod individually. */
function withoutGangs(schedulerName: string): ProfileConfiguration {
  const { plugins } = defaultProfile(schedulerName);
  return { schedulerName, plugins: plugins.filter(({ name }) => name !== 'Coscheduling') };
}
