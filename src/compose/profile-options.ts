import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { EnabledPlugin } from '../framework/profile.ts';
import { ProfileError } from '../framework/profile-error.ts';

/** A profile, as it differs from the one that says nothing about its plugins. */
export interface ProfileOptions {
  /** The pods that say so in spec.schedulerName are scheduled by this profile. */
  readonly schedulerName: string;
  /** Names of plugins that are enabled by default and are not here; `*` for all of them. */
  readonly disabled?: readonly string[];
  /** Enabled after the others, in this order: by name, or with weight and arguments. */
  readonly enabled?: readonly (string | EnabledPlugin)[];
}

/** Throws ProfileError when it disables what is not enabled, or enables what is. */
export function profileFrom({ schedulerName, disabled = [], enabled = [] }: ProfileOptions): ProfileConfiguration {
  const { plugins } = defaultProfile(schedulerName);
  const unknown = disabled.find((name) => name !== '*' && !plugins.some((plugin) => plugin.name === name));
  if (unknown !== undefined) {
    const names = plugins.map(({ name }) => name).join(', ');
    throw new ProfileError(
      `profile ${schedulerName} disables ${unknown}, which is not enabled by default; these are: ${names}`,
    );
  }
  const kept = disabled.includes('*') ? [] : plugins.filter(({ name }) => !disabled.includes(name));
  const more = enabled.map((plugin) => (typeof plugin === 'string' ? { name: plugin } : plugin));
  const twice = more.find(({ name }) => kept.some((plugin) => plugin.name === name));
  if (twice !== undefined) {
    throw new ProfileError(
      `profile ${schedulerName} enables ${twice.name}, which is enabled by default; to give it another place, weight or arguments, disable it as well`,
    );
  }
  return { schedulerName, plugins: [...kept, ...more] };
}
