import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import { enableOwn } from './own-plugins.ts';
import { startPlane } from './plane.ts';
import type { PlaneOptions, RunningPlane } from './plane.ts';

export interface UpPlaneOptions extends Omit<PlaneOptions, 'profiles'> {
  /** Coscheduling off: what a scheduler without gangs does. */
  readonly naive: boolean;
  /** Without one somebody else has to schedule. */
  readonly scheduler: boolean;
}

/** Pods that name no scheduler are ours as well: nobody else is there. */
const schedulerNames = ['tutti', 'default-scheduler'];

/** The plane of `tutti up`, as `startPlane` starts it. */
export function startUpPlane({ naive, scheduler, ...options }: UpPlaneOptions): Promise<RunningPlane> {
  if (!scheduler) return startPlane({ ...options, profiles: undefined });
  const profiles = schedulerNames.map((name) => (naive ? withoutGangs(name) : defaultProfile(name)));
  return startPlane({ ...options, profiles: enableOwn(profiles, options.plugins ?? []) });
}

/** Every pod is a lone pod. */
function withoutGangs(schedulerName: string): ProfileConfiguration {
  const { plugins } = defaultProfile(schedulerName);
  return { schedulerName, plugins: plugins.filter(({ name }) => name !== 'Coscheduling') };
}
