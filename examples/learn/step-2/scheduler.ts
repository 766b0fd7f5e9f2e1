import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';

/** Rejects cordoned nodes. */
export const nodeUnschedulable: OwnPlugin = {
  name: 'NodeUnschedulable',
  factory: (_args, { Status }) => {
    const rejection = new Status('UnschedulableAndUnresolvable', 'node(s) were unschedulable');
    return {
      name: 'NodeUnschedulable',
      filter: (_state, _pod, { node }) => (node.unschedulable ? rejection : undefined),
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
