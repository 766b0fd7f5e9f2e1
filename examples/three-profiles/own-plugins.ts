import type { OwnPlugin } from 'tutti-scheduler';

/** Prefers the nodes with the highest number at the end of their names. */
const lastNode: OwnPlugin = {
  name: 'LastNode',
  factory: () => ({
    name: 'LastNode',
    sign: () => '',
    score: (_state, _pod, { name }) => Number(/\d+$/.exec(name)?.[0] ?? 0),
  }),
};

/** Logs bound pods. */
const journal: OwnPlugin = {
  name: 'Journal',
  factory: (_args, { logger, schedulerName }) => ({
    name: 'Journal',
    postBind: (_state, { name }, nodeName) => logger.info('written down', { pod: name, node: nodeName, schedulerName }),
  }),
};

export const ownPlugins: readonly OwnPlugin[] = [lastNode, journal];
