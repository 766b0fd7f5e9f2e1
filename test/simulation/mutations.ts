import type { Mutation } from './mutation.ts';
export const mutations: readonly Mutation[] = [
  {
    name: 'no-look-when-sent',
    file: 'scheduler/binding-cycle.ts',
    find: 'if (refused !== undefined) throw new WithdrawnError(refused.message);',
    replace: '',
    why: 'x',
    within: 2000,
  },
];
