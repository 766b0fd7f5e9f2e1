import { createPlayground } from 'tutti-scheduler';
import { addPod, boundNode, clientOf, numberedNodes, pluginLogger, whyPending } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { scheduler } from './scheduler.ts';

/** Uses a pod that fails repeatedly, and pods that do not wait for it. */
export async function scenario(say: Say): Promise<void> {
  const playground = await createPlayground({ ...scheduler, nodes: numberedNodes(1), logger: pluginLogger(say) });
  const core = clientOf(playground);
  try {
    say('there is one node, node0');
    await addPod(core, 'moody');
    say(`moody is pending: ${await whyPending(playground, core, 'moody')}`);
    for (const pod of ['pod1', 'pod2']) {
      await addPod(core, pod);
      say(`${pod} is bound to ${await boundNode(playground, core, pod)}`);
    }
    say(`moody is bound to ${await boundNode(playground, core, 'moody')}`);
  } finally {
    await playground.stop();
  }
}
