import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';

/** Refuses nodes that are cordoned. */
export const nodeUnschedulable: OwnPlugin = {
  name: 'NodeUnschedulable',
  factory: (_args, { Status }) => {
    const refusal = new Status('UnschedulableAndUnresolvable', 'node(s) were unschedulable');
    return {
      name: 'NodeUnschedulable',
      filter: (_state, _pod, { node }) => (node.unschedulable ? refusal : undefined),
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
