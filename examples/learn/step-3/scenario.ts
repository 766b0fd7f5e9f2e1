import { createPlayground } from 'tutti-scheduler';
import { addPod, boundNode, clientOf, numberedNodes } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { scheduler } from './scheduler.ts';

/** Uses pods with and without a trailing digit, and a pod whose node is cordoned. */
export async function scenario(say: Say): Promise<void> {
  const nodes = numberedNodes(10).map((node) => (node.name === 'node7' ? { ...node, unschedulable: true } : node));
  const playground = await createPlayground({ ...scheduler, nodes });
  const core = clientOf(playground);
  try {
    say('there are ten nodes, node0 to node9; node7 is cordoned');
    for (const pod of ['pod1', 'pod3', 'pod7', 'pod']) {
      await addPod(core, pod);
      say(`${pod} is bound to ${await boundNode(playground, core, pod)}`);
    }
  } finally {
    await playground.stop();
  }
}
