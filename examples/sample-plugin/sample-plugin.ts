import type { OwnPlugin } from 'tutti-scheduler';

/** Logs a line at two extension points. */
const samplePlugin: OwnPlugin = {
  name: 'SamplePlugin',
  factory: (_args, { logger }) => ({
    name: 'SamplePlugin',
    preFilter: (_state, pod) => {
      logger.info(`pre filter called for pod ${pod.name}`);
      return undefined;
    },
    postBind: (_state, pod, nodeName) => logger.info(`pod ${pod.name} is bound to ${nodeName}`),
  }),
};

export default samplePlugin;
