import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';
import { nodeUnschedulable } from '../step-2/scheduler.ts';

/** Prefers the node whose name ends with the same digit as the name of the pod. */
const nodeNumber: OwnPlugin = {
  name: 'NodeNumber',
  factory: () => ({
    name: 'NodeNumber',
    score: (_state, pod, { name }) => {
      const digit = lastDigit(pod.name);
      return digit !== undefined && digit === lastDigit(name) ? 10 : 0;
    },
  }),
};

/** Returns the trailing digit of a name, or undefined. */
export function lastDigit(name: string): number | undefined {
  const last = name.at(-1) ?? '';
  return /[0-9]/.test(last) ? Number(last) : undefined;
}

export const scheduler: PlaygroundOptions = {
  plugins: [nodeUnschedulable, nodeNumber],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      disabled: ['*'],
      enabled: ['PrioritySort', 'NodeUnschedulable', 'NodeNumber', 'DefaultBinder'],
    },
  ],
};
