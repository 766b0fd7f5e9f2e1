import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';

/** Refuses nodes that are cordoned, and says when a pod that it refused is worth another attempt. */
const nodeUnschedulable: OwnPlugin = {
  name: 'NodeUnschedulable',
  factory: (_args, { Status, logger }) => {
    const refusal = new Status('UnschedulableAndUnresolvable', 'node(s) were unschedulable');
    return {
      name: 'NodeUnschedulable',
      filter: (_state, _pod, { node }) => (node.unschedulable ? refusal : undefined),
      eventsToRegister: () => [
        {
          resource: 'Node',
          actions: ['Add', 'Update'],
          hint: (pod, event) => {
            if (event.resource !== 'Node' || event.action === 'Delete') return false;
            const helps = !event.new.unschedulable;
            logger.info(`${event.action} of ${event.new.name} ${helps ? 'may help' : 'cannot help'} ${pod.name}`);
            return helps;
          },
        },
      ],
    };
  },
};

export const scheduler: PlaygroundOptions = {
  plugins: [nodeUnschedulable],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      disabled: ['*'],
      enabled: ['PrioritySort', 'NodeUnschedulable', 'DefaultBinder'],
    },
  ],
};
