import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';

/** Rejects cordoned nodes, and decides which events can make a rejected pod schedulable. */
const nodeUnschedulable: OwnPlugin = {
  name: 'NodeUnschedulable',
  factory: (_args, { Status, logger }) => {
    const rejection = new Status('UnschedulableAndUnresolvable', 'node(s) were unschedulable');
    return {
      name: 'NodeUnschedulable',
      filter: (_state, _pod, { node }) => (node.unschedulable ? rejection : undefined),
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
