import { defaultPlugins } from '../../plugins/registry.ts';

/** The default plugins without DefaultPreemption: for tests whose own plugin chooses the victims. */
export const withoutPreemption = defaultPlugins.filter(({ name }) => name !== 'DefaultPreemption');
