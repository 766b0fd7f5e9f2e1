import type { OwnPlugin, PlaygroundOptions } from 'tutti-scheduler';
import { nodeUnschedulable } from '../step-2/scheduler.ts';
import { lastDigit } from '../step-3/scheduler.ts';

const podDigit = 'NodeNumber/pod-digit';

/** Number of calls of each extension point. */
export const calls = { preScore: 0, score: 0 };

/** As before, but reads the name of the pod only once, and skips pods without a digit. */
const nodeNumber: OwnPlugin = {
  name: 'NodeNumber',
  factory: (_args, { Status }) => {
    const nothingToDo = new Status('Skip', 'the name of the pod does not end in a digit');
    return {
      name: 'NodeNumber',
      preScore: (state, pod) => {
        calls.preScore++;
        const digit = lastDigit(pod.name);
        if (digit === undefined) return nothingToDo;
        state.write(podDigit, digit);
        return undefined;
      },
      score: (state, _pod, { name }) => {
        calls.score++;
        return state.read<number>(podDigit) === lastDigit(name) ? 10 : 0;
      },
    };
  },
};

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
