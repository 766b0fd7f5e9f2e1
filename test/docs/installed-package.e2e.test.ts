import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { addExampleNodes, exampleNodeOf } from '../examples/example-cluster.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, transcriptsOf } from './console-blocks.ts';
import { codeInComment, filesIn } from './examples-in.ts';
import { PackageReader } from './package-reader.ts';
import { readersConfiguration } from './reader-folder.ts';

const installing = consoleCommandsOf(claimBlocks('docs/install.md', 'console', 'The tutti command'));
const steps = claimBlocks('docs/plugins.md', 'sh').map(({ code }) => code.trim().split('\n'));
const files = filesIn(claimBlocks('docs/plugins.md', 'ts'));
const comments = ['src/testing.ts', 'src/compose/create-playground.ts'];

/** Uses only what the pages show, with the package as `npm run package` makes it. */
describe('The package, installed as docs/install.md and docs/plugins.md show', () => {
  let reader: PackageReader;
  const plugins = 'my-plugins';

  beforeAll(async () => {
    reader = await PackageReader.make();
    const outputs = await reader.run(
      installing.map(({ command }) => command),
      'tutti',
    );
    const { printed, expected } = transcriptsOf(installing, outputs);
    expect(printed).toEqual(expected);
    const [setUp] = steps;
    expect((await reader.run(setUp!, '.')).filter((output) => output.endsWith('FAILED'))).toEqual([]);
    await reader.write(join(plugins, 'tsconfig.json'), JSON.stringify(readersConfiguration()));
    for (const { name, code } of files) await reader.write(join(plugins, name), code);
    for (const [index, path] of comments.entries()) {
      await reader.write(join(plugins, `comment-${index}.ts`), await codeInComment(path));
    }
    await reader.write(join(plugins, 'imports-status.ts'), importsStatus);
  });

  afterAll(() => reader?.remove());

  it('is used by the commands and files that the tests below run', () => {
    expect(steps.map(([first]) => first)).toEqual([
      'mkdir my-plugins && cd my-plugins',
      'npx tsc',
      'npx tutti up --plugin ./same-rack.ts',
      'npm install @kubernetes/client-node',
    ]);
    expect(files.map(({ name }) => name)).toEqual(['same-rack.ts', 'same-rack.test.ts', 'playground.ts']);
  });

  it('the files compile, and the plugin has fewer than 40 lines and passes its test', async () => {
    const [, check, , addClient] = steps;
    expect(await reader.run(addClient!, plugins)).toEqual(['']);
    const [compiler, test] = await reader.run(check!, plugins);
    expect(compiler).toBe('');
    expect(test).toMatch(/pass 1\n.*fail 0\n/s);
    expect(files[0]!.code.trim().split('\n').length).toBeLessThan(40);
  });

  it('the playground of the guide runs, and so do the examples of the test kit and of createPlayground', async () => {
    const examples = ['playground', 'comment-0', 'comment-1'].map((name) => `node ${name}.ts`);
    expect(await reader.run(examples, plugins)).toEqual(['', '', expect.stringMatching(/^pod1 is on node-[123]$/)]);
  });

  describe('with a cluster', () => {
    const [, , [up, scheduler]] = steps as unknown as [unknown, unknown, [string, string]];
    const running: TestProcess[] = [];
    let plane: TestPlane;

    beforeEach(async () => {
      plane = await openEmbeddedPlane();
      await addExampleNodes(plane, 2);
      await plane.client.patch('/api/v1/nodes/node-2', 'merge', { metadata: { labels: { rack: 'right' } } });
      await plane.client.create('/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', labels: { rack: 'right' } },
        spec: { schedulerName: 'tutti', containers: [{ name: 'main', image: 'nginx' }] },
      });
    });

    afterEach(async () => {
      for (const each of running.splice(0)) await each.kill();
      await plane.stop();
    });

    /** Starts a command of the page in the folder of the plugin. */
    function start(
      command: string,
      program: string = join(reader.folder, plugins, 'node_modules/.bin/tutti'),
    ): TestProcess {
      const parameters = command.replace(/^npx tutti /, '').split(' ');
      // `up` has a cluster of its own, and prints only warnings by default.
      const flags = {
        scheduler: ['--kubeconfig', plane.kubeconfigPath, '--secure-port', '0'],
        up: ['--exit', '--log-level', 'info'],
      }[parameters[0]!]!;
      const script = 'cd "$0" && exec "$@"';
      const process = new TestProcess([...parameters, ...flags], {
        program: ['sh', '-c', script, join(reader.folder, plugins), program],
      });
      running.push(process);
      return process;
    }

    it('the plugin runs with tutti scheduler --plugin', async () => {
      const process = start(scheduler);
      expect(await exampleNodeOf(plane, 'web')).toBe('node-2');
      await process.said(/INFO +bound plugin=SameRack pod=web node=node-2/);
    });

    it('the plugin runs with tutti up --plugin', async () => {
      await start(up).said(/INFO +bound process=scheduler plugin=SameRack pod=red-1/);
    });

    it('a plugin that imports Status runs with the tutti of its folder; with another, the verdict says what to do', async () => {
      const command = 'npx tutti scheduler --plugin ./imports-status.ts';
      const verdict = async (): Promise<string | undefined> => {
        const { status } = await plane.client.get<any>('/api/v1/namespaces/default/pods/web');
        return status?.conditions?.find(({ type }: any) => type === 'PodScheduled')?.message;
      };
      const own = start(command);
      await expect.poll(verdict).toContain('2 node(s) are closed');
      await own.kill();
      start(command, join(reader.folder, 'global/bin/tutti'));
      await expect.poll(verdict).toContain('not a Status of another copy of tutti-scheduler; use handle.Status');
    });
  });
});

const importsStatus = `import { Status } from 'tutti-scheduler';
import type { OwnPlugin } from 'tutti-scheduler';

const closed = new Status('UnschedulableAndUnresolvable', 'node(s) are closed');
const neverPlugin: OwnPlugin = { name: 'Closed', factory: () => ({ name: 'Closed', filter: () => closed }) };

export default neverPlugin;
`;
