import { expect, it } from 'vitest';
import { openEmbeddedPlane } from '../test/planes/embedded.ts';
import { silentLogger } from './observability/silent-logger.ts';
import { createScheduler, Status } from './index.ts';
import type { OwnPlugin } from './index.ts';

it("a scheduler made through the library asks the caller's own plugin", async () => {
  const plane = await openEmbeddedPlane();
  const rejection = new Status('Unschedulable', 'node(s) are kept for the night', 'NightNodes');
  const nightNodes: OwnPlugin = {
    name: 'NightNodes',
    factory: () => ({
      name: 'NightNodes',
      sign: () => '',
      filter: (_state, _pod, node) => (node.node.labels['night-only'] === 'true' ? rejection : undefined),
    }),
  };
  const scheduler = await createScheduler({
    kubeconfig: plane.kubeconfigPath,
    plugins: [nightNodes],
    logger: silentLogger,
  });
  try {
    const amounts = { cpu: '2', memory: '1Gi', pods: '10' };
    const nodes = { night: { 'night-only': 'true' }, day: {} };
    for (const [name, labels] of Object.entries(nodes)) {
      const status = { allocatable: amounts, capacity: amounts };
      await plane.client.create('/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels },
        status,
      });
    }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'worker' },
      spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] },
    };
    await plane.client.create('/api/v1/namespaces/default/pods', pod);
    await expect
      .poll(
        async () =>
          (await plane.client.get<{ spec: { nodeName?: string } }>('/api/v1/namespaces/default/pods/worker')).spec
            .nodeName,
      )
      .toBe('day');
    const metrics = await fetch(`${scheduler.url}/metrics`);
    expect(await metrics.text()).toContain('scheduler_schedule_attempts_total{result="scheduled",profile="tutti"} 1');
  } finally {
    await scheduler.stop();
    await plane.stop();
  }
});
