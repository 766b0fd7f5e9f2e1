import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { addExampleNodes, exampleNodeOf } from '../examples/example-cluster.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import { claimBlocks } from './block-claims.ts';
import { codeInComment, filesIn } from './examples-in.ts';
import { ReaderFolder } from './reader-folder.ts';

const files = filesIn(claimBlocks('docs/plugins.md', 'ts'));
const comments = ['src/testing.ts', 'src/compose/create-playground.ts'];

/** Uses only what the guide shows, in a folder outside the repository, as a reader would. */
describe('The files of docs/plugins.md and the examples of the library', () => {
  let folder: ReaderFolder;

  beforeAll(async () => {
    folder = await ReaderFolder.make();
    for (const file of files) await folder.writeFile(file);
    for (const [index, path] of comments.entries()) {
      await folder.writeFile({ name: `comment-${index}.ts`, code: await codeInComment(path) });
    }
  });

  afterAll(() => folder.remove());

  it('are each run by a test below', () => {
    expect(files.map(({ name }) => name)).toEqual(['same-rack.ts', 'same-rack.test.ts', 'playground.ts']);
  });

  it('compile in a reader’s project', async () => {
    expect(await folder.compile()).toBe('');
  });

  it('the plugin has fewer than 40 lines and passes its test', async () => {
    expect(files[0]!.code.trim().split('\n').length).toBeLessThan(40);
    expect(await folder.execute('same-rack.test.ts', '--test')).toMatch(/pass 1\n.*fail 0\n/s);
  });

  it('the plugin runs with tutti scheduler --plugin', async () => {
    const plane = await openEmbeddedPlane();
    const flags = ['--kubeconfig', plane.kubeconfigPath, '--secure-port', '0'];
    const scheduler = new TestProcess(['scheduler', ...flags, '--plugin', folder.path('same-rack.ts')]);
    try {
      await addExampleNodes(plane, 2);
      await plane.client.patch('/api/v1/nodes/node-2', 'merge', { metadata: { labels: { rack: 'right' } } });
      await plane.client.create('/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', labels: { rack: 'right' } },
        spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'nginx' }] },
      });
      expect(await exampleNodeOf(plane, 'web')).toBe('node-2');
      await scheduler.said(/INFO +bound plugin=SameRack pod=web node=node-2/);
    } finally {
      await scheduler.kill();
      await plane.stop();
    }
  });

  it('the playground of the guide runs, and so do the examples of the test kit and of createPlayground', async () => {
    await folder.execute('playground.ts');
    await folder.execute('comment-0.ts');
    expect(await folder.execute('comment-1.ts')).toMatch(/^pod1 is on node-[123]$/m);
  });
});
