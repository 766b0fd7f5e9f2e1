import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scheduler as randomScore } from '../../examples/random-score/scheduler.ts';
import { scheduler as samplePlugin } from '../../examples/sample-plugin/scheduler.ts';
import { ownPlugins } from '../../examples/three-profiles/own-plugins.ts';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { createScheduler } from '../../src/index.ts';
import type { CreateSchedulerOptions } from '../../src/index.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import { LogLines } from '../scenarios/log-lines.ts';
import { addExampleNodes, createExample, exampleNodeOf } from './example-cluster.ts';

const programs = await provideForSuite('the examples with plugins', ['etcd', 'kube-apiserver', 'kube-scheduler']);

describe('Plugin examples on the embedded plane', () => {
  play(openEmbeddedPlane, async ({ kubeconfigPath }) => {
    const flags = ['--kubeconfig', kubeconfigPath, '--secure-port', '0', '--scheduler-name', 'default-scheduler'];
    const process = new TestProcess(['scheduler', ...flags]);
    await process.said(/ scheduling schedulerNames=/);
    return () => process.kill();
  });
});

describe.skipIf(programs.state === 'missing')(
  'Plugin examples on a real kube-apiserver, next to kube-scheduler',
  () => {
    play(
      async () => {
        if (programs.state === 'missing') throw new Error(programs.message);
        const plane = await openRealPlane({ paths: programs.paths });
        await plane.startPeer('kube-scheduler', { schedulerName: 'default-scheduler', qps: 50, burst: 100 });
        return plane;
      },
      async () => () => Promise.resolve(),
    );
  },
);

/** `startDefault` runs a default scheduler if none runs yet, and returns a function that stops it. */
function play(open: () => Promise<TestPlane>, startDefault: (plane: TestPlane) => Promise<() => Promise<void>>): void {
  let plane: TestPlane;
  let stopDefault: () => Promise<void>;

  beforeAll(async () => {
    plane = await open();
    await addExampleNodes(plane, 4);
    stopDefault = await startDefault(plane);
  });

  afterAll(async () => {
    await stopDefault?.();
    await plane?.stop();
  });

  /** Runs a scheduler with these options while `run` runs, and passes it the scheduler's log lines. */
  async function running(options: CreateSchedulerOptions, run: (logs: LogLines) => Promise<void>): Promise<void> {
    const logs = new LogLines();
    const scheduler = await createScheduler({ ...options, kubeconfig: plane.kubeconfigPath, logger: logs });
    try {
      await run(logs);
    } finally {
      await scheduler.stop();
    }
  }

  const messages = ({ lines }: LogLines): readonly string[] => lines.map(({ message }) => message);

  it('a sample plugin gets only the pods of its profile at PreFilter and PostBind', async () => {
    await running(samplePlugin, async (logs) => {
      await createExample(plane, 'examples/sample-plugin/pods.yaml');
      const node = await exampleNodeOf(plane, 'sampled');
      await exampleNodeOf(plane, 'plain');
      await logs.until(({ message }) => message === `pod sampled is bound to ${node}`);
      expect(messages(logs).filter((line) => /^(pre filter|pod )/.test(line))).toEqual([
        'pre filter called for pod sampled',
        `pod sampled is bound to ${node}`,
      ]);
    });
    await plane.client.delete('/api/v1/namespaces/default/pods/sampled', { gracePeriodSeconds: 0 });
    await plane.client.delete('/api/v1/namespaces/default/pods/plain', { gracePeriodSeconds: 0 });
  });

  it('the same plugin runs from a file on the command line', async () => {
    const flags = ['--kubeconfig', plane.kubeconfigPath, '--secure-port', '0'];
    const process = new TestProcess([
      ...['scheduler', ...flags, '--scheduler-name', 'sample-scheduler'],
      ...['--plugin', 'examples/sample-plugin/sample-plugin.ts'],
    ]);
    try {
      await process.said(/ scheduling schedulerNames=/);
      await createExample(plane, 'examples/sample-plugin/pods.yaml');
      await process.said(/INFO +pre filter called for pod sampled plugin=SamplePlugin/);
      await process.said(/INFO +pod sampled is bound to node-\d plugin=SamplePlugin/);
      await exampleNodeOf(plane, 'plain');
      expect(process.stderr).not.toContain('plain');
    } finally {
      await process.kill();
    }
  });

  it('three profiles of one process handle their pods differently', async () => {
    const wornOut = [{ key: 'worn', value: 'out', effect: 'PreferNoSchedule' }];
    await plane.client.patch('/api/v1/nodes/node-4', 'merge', { spec: { taints: wornOut } });
    const options = { configFile: 'examples/three-profiles/scheduler.yaml', plugins: ownPlugins };
    await running(options, async (logs) => {
      await createExample(plane, 'examples/three-profiles/pods.yaml');
      expect(await exampleNodeOf(plane, 'unpicky')).toBe('node-4');
      for (const name of ['unprepared', 'ordinary']) expect(await exampleNodeOf(plane, name)).not.toBe('node-4');
      await logs.until(({ message }) => message === 'written down');
      const written = logs.lines.filter(({ message }) => message === 'written down');
      expect(written.map(({ fields }) => [fields.pod, fields.schedulerName])).toEqual([['unpicky', 'not-picky']]);
    });
    await plane.client.patch('/api/v1/nodes/node-4', 'merge', { spec: { taints: null } });
    for (const name of ['unpicky', 'unprepared', 'ordinary']) {
      await plane.client.delete(`/api/v1/namespaces/default/pods/${name}`, { gracePeriodSeconds: 0 });
    }
  });

  it('a plugin with random scores decides by its weight and logs its decision', async () => {
    await running(randomScore, async (logs) => {
      await createExample(plane, 'examples/random-score/pod.yaml');
      const node = await exampleNodeOf(plane, 'thrown');
      await logs.until(({ message }) => message === 'decision');
      const { fields } = logs.lines.find(({ message }) => message === 'decision')!;
      expect(fields).toMatchObject({ pod: 'thrown', node });
      const scores = new Map<string, number>();
      for (const [, name, score] of String(fields.scores).matchAll(/(node-\d) (\d+)/g))
        scores.set(name!, Number(score));
      expect([...scores.keys()].sort()).toEqual(['node-1', 'node-2', 'node-3', 'node-4']);
      // Its weight outweighs all other scores, which decide only between nodes with equal random scores.
      expect(scores.get(node)).toBe(Math.max(...scores.values()));
    });
  });
}
