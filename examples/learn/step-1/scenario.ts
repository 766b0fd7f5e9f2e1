import { createPlayground } from 'tutti-scheduler';
import { addPod, boundNode, clientOf, numberedNodes } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { scheduler } from './scheduler.ts';

/** Schedules five pods on ten nodes. */
export async function scenario(say: Say): Promise<void> {
  const playground = await createPlayground({ ...scheduler, nodes: numberedNodes(10) });
  const core = clientOf(playground);
  try {
    say('there are ten nodes, node0 to node9');
    for (const pod of ['pod1', 'pod2', 'pod3', 'pod4', 'pod5']) {
      await addPod(core, pod);
      say(`${pod} is bound to ${await boundNode(playground, core, pod)}`);
    }
  } finally {
    await playground.stop();
  }
}
