import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { EnabledPlugin } from '../framework/profile.ts';
import { ProfileError } from '../framework/profile-error.ts';

/** A profile, described by its differences from the default one. */
export interface ProfileOptions {
  /** Name by which pods select this profile in spec.schedulerName. */
  readonly schedulerName: string;
  /** Default plugins that this profile disables; `*` for all. */
  readonly disabled?: readonly string[];
  /** Plugins that run after the others, in this order: a name, or a plugin with weight and arguments. */
  readonly enabled?: readonly (string | EnabledPlugin)[];
}

/** Returns the profile. Throws ProfileError if it disables a plugin that is not a default, or enables one that is still enabled. */
export function profileFrom({ schedulerName, disabled = [], enabled = [] }: ProfileOptions): ProfileConfiguration {
  const { plugins } = defaultProfile(schedulerName);
  const unknown = disabled.find((name) => name !== '*' && !plugins.some((plugin) => plugin.name === name));
  if (unknown !== undefined) {
    const names = plugins.map(({ name }) => name).join(', ');
    throw new ProfileError(
      `profile ${schedulerName} disables ${unknown}, which is not enabled by default; the default plugins are ${names}`,
    );
  }
  const kept = disabled.includes('*') ? [] : plugins.filter(({ name }) => !disabled.includes(name));
  const more = enabled.map((plugin) => (typeof plugin === 'string' ? { name: plugin } : plugin));
  const twice = more.find(({ name }) => kept.some((plugin) => plugin.name === name));
  if (twice !== undefined) {
    throw new ProfileError(
      `profile ${schedulerName} enables ${twice.name}, which is enabled by default; to change its position, weight or arguments, disable it too`,
    );
  }
  return { schedulerName, plugins: [...kept, ...more] };
}
