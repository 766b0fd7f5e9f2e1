import { createPlayground } from 'tutti-scheduler';
import { addNode, addPod, boundNode, clientOf, numberedNodes, pluginLogger, whyPending } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { scheduler } from './scheduler.ts';

/** Uses a pod that finds no node until a schedulable one is added. */
export async function scenario(say: Say): Promise<void> {
  const nodes = numberedNodes(9, { unschedulable: true });
  const playground = await createPlayground({ ...scheduler, nodes, logger: pluginLogger(say) });
  const core = clientOf(playground);
  try {
    say('node0 to node8 are cordoned');
    await addPod(core, 'pod1');
    say(`pod1 is pending: ${await whyPending(playground, core, 'pod1')}`);
    await addNode(core, 'node9', { unschedulable: true });
    say('node9 is added, cordoned');
    await addNode(core, 'node10');
    say('node10 is added');
    say(`pod1 is bound to ${await boundNode(playground, core, 'pod1')}`);
  } finally {
    await playground.stop();
  }
}
