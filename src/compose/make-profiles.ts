import { systemClock } from '../base/system-clock.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import type { Profile } from '../framework/profile.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { registryWith } from './own-plugins.ts';
import { createReadOnlyCore } from './read-only-core.ts';

/**
 * Returns the profiles of a scheduler that is never started and has no cluster. It creates every plugin that they enable. Throws
 * ProfileError.
 */
export function makeProfiles({ profiles }: SchedulerConfiguration, own: readonly OwnPlugin[]): readonly Profile[] {
  const plugins = registryWith(own);
  return createReadOnlyCore({ profiles, plugins, clock: systemClock, random: Math.random }).profiles.all;
}
