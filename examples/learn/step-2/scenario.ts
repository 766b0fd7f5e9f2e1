import { createPlayground } from 'tutti-scheduler';
import { addPod, boundNode, clientOf, numberedNodes, whyPending } from '../cluster.ts';
import type { Say } from '../cluster.ts';
import { scheduler } from './scheduler.ts';

/** Uses ten cordoned nodes, and one node that is cordoned later. */
export async function scenario(say: Say): Promise<void> {
  const cordoned = numberedNodes(10, { unschedulable: true });
  const playground = await createPlayground({ ...scheduler, nodes: [...cordoned, { name: 'node10' }] });
  const core = clientOf(playground);
  try {
    say('node0 to node9 are cordoned, node10 is not');
    await addPod(core, 'pod1');
    say(`pod1 is bound to ${await boundNode(playground, core, 'pod1')}`);

    const cordon = [{ op: 'add', path: '/spec/unschedulable', value: true }];
    await core.patchNode({ name: 'node10', body: cordon });
    say('node10 is cordoned, too');
    await addPod(core, 'pod2');
    say(`pod2 stays pending: ${await whyPending(playground, core, 'pod2')}`);
  } finally {
    await playground.stop();
  }
}
