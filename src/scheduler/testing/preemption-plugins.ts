import type { PluginFactory } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';

/** The default plugins without DefaultPreemption: for tests whose own plugin chooses the victims. */
export const withoutPreemption = defaultPlugins.filter(({ name }) => name !== 'DefaultPreemption');

/** Returns the default plugins, with these arguments for DefaultPreemption. */
export function withPreemption(args: object): readonly { readonly name: string; readonly factory: PluginFactory }[] {
  return defaultPlugins.map(({ name, factory }) =>
    name === 'DefaultPreemption' ? { name, factory: (_, handle) => factory(args, handle) } : { name, factory },
  );
}
