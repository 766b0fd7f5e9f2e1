import { createPlayground } from 'tutti-scheduler';
import { addPod, boundNode, clientOf, numberedNodes, pluginLogger } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { scheduler } from './scheduler.ts';

/** Uses three pods. The first waits longest. */
export async function scenario(say: Say): Promise<void> {
  const playground = await createPlayground({ ...scheduler, nodes: numberedNodes(10), logger: pluginLogger(say) });
  const core = clientOf(playground);
  try {
    say('there are ten nodes, node0 to node9');
    const pods = ['pod4', 'pod1', 'pod0'];
    for (const pod of pods) {
      await addPod(core, pod);
      say(`${pod} is created`);
    }
    await Promise.all(
      pods.map(async (pod) => {
        say(`${pod} is bound to ${await boundNode(playground, core, pod)}`);
      }),
    );
  } finally {
    await playground.stop();
  }
}
