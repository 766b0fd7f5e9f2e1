import { createPlayground } from 'tutti-scheduler';
import { addPod, boundNode, clientOf, numberedNodes } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { calls, scheduler } from './scheduler.ts';

/** Counts the calls of the extension points for pods with and without a digit. */
export async function scenario(say: Say): Promise<void> {
  const playground = await createPlayground({ ...scheduler, nodes: numberedNodes(10) });
  const core = clientOf(playground);
  try {
    say('there are ten nodes, node0 to node9');
    for (const pod of ['pod1', 'pod3', 'pod']) {
      const before = { ...calls };
      await addPod(core, pod);
      const node = await boundNode(playground, core, pod);
      const preScores = calls.preScore - before.preScore;
      const scores = calls.score - before.score;
      say(`${pod} is bound to ${node}, after ${preScores} PreScore and ${scores} Score`);
    }
  } finally {
    await playground.stop();
  }
}
