import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath, podGroupResource } from '../../src/api/pod-group.ts';
import { exampleInComment, examplesInPage } from './examples-in.ts';
import type { DocumentedExample } from './examples-in.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { ReaderFolder } from './reader-folder.ts';

const ofPage = await examplesInPage('docs/plugins.md');
const ofLibrary = await exampleInComment('src/index.ts');

describe('the examples of docs/plugins.md and src/index.ts', () => {
  let folder: ReaderFolder;
  let plane: TestPlane;

  beforeAll(async () => {
    folder = await ReaderFolder.make();
    for (const example of ofPage) await folder.write(example);
  });

  beforeEach(async () => {
    plane = await openEmbeddedPlane();
    vi.stubEnv('KUBECONFIG', plane.kubeconfigPath);
    // Their schedulers log there.
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  });

  afterEach(async () => {
    await plane.stop();
    vi.useRealTimers();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  afterAll(() => folder.remove());

  it('are each run by a test below', () => {
    expect([...ofPage, ofLibrary].map(({ name }) => name)).toEqual(['teamNodes', 'nightNodes', 'noFridays']);
  });

  it('compile in a project of their reader', { timeout: 180_000 }, async () => {
    await folder.write(ofLibrary);
    expect(await folder.compile()).toBe('');
  });

  it('teamNodes: a node with a team takes the pods of that team alone', async () => {
    await using _ = await running('teamNodes');
    await addNode('red-node-1', { labels: { team: 'red' } });
    await addNode('red-node-2', { labels: { team: 'red' } });
    await addPod('red', { labels: { team: 'red' } });
    await expectNode('red', expect.stringMatching(/^red-node-[12]$/));
    await addPod('blue', { labels: { team: 'blue' } });
    await expectMessage('blue', '0/2 nodes are available: 2 node(s) belong to another team');
    await addNode('common-node', {});
    await expectNode('blue', 'common-node');
  });

  it('nightNodes: answers of the night are not used by day, though pod and node are the same', async () => {
    setTime('03:00');
    await using _ = await running('nightNodes');
    await addNode('dark', { labels: { 'night-only': 'true' } });
    await addPod('lone', {});
    await expectNode('lone', 'dark');
    // The small member would fit there, and nothing touches the node, so that this answer could be used again.
    await addNode('darker', { labels: { 'night-only': 'true', size: 'small' } });
    await addGang('pair', { small: { size: 'small' }, large: { size: 'large' } });
    await expectMessage('small', "large finds no node: 0/2 nodes are available: 2 node(s) didn't match");

    setTime('12:00');
    await addNode('bright', { labels: { size: 'large' } });
    await expectMessage('small', '1 node(s) are kept for the night');
    await addNode('brighter', { labels: { size: 'small' } });
    await expectNode('small', 'brighter');
    await expectNode('large', 'bright');
  });

  it.each(['Thursday', 'Friday'] as const)('noFridays: on a %s', async (day) => {
    setTime('12:00', day === 'Friday' ? '2027-01-01' : '2026-12-31');
    const example = {
      ...ofLibrary,
      name: day,
      code: ofLibrary.code.replace('/path/to/kubeconfig', plane.kubeconfigPath),
    };
    await folder.write(example);
    await using _ = await running(example);
    await addNode('node', {});
    await addPod('worker', {});
    if (day === 'Friday') await expectMessage('worker', 'nothing starts on a Friday');
    else await expectNode('worker', 'node');
  });

  async function running(which: string | DocumentedExample): Promise<AsyncDisposable> {
    const example = typeof which === 'string' ? ofPage.find(({ name }) => name === which)! : which;
    const scheduler = await folder.run(example);
    return { [Symbol.asyncDispose]: () => scheduler.stop() };
  }

  /** UTC, of all that happens in this process. */
  function setTime(time: string, date = '2027-01-02'): void {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${date}T${time}:00Z`) });
  }

  async function addNode(name: string, { labels = {} }: { readonly labels?: object }): Promise<void> {
    const amounts = { cpu: '8', memory: '8Gi', pods: '10' };
    const metadata = { name, labels };
    const status = { allocatable: amounts, capacity: amounts };
    await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata, status });
  }

  async function addPod(
    name: string,
    { labels = {}, nodeSelector = {} }: { readonly labels?: object; readonly nodeSelector?: object },
  ): Promise<void> {
    const spec = { schedulerName: 'tutti', nodeSelector, containers: [{ name: 'main', image: 'busybox' }] };
    const metadata = { name, labels };
    await plane.client.create('/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  }

  /** `members`: name -> node selector. All of them are the quorum. */
  async function addGang(name: string, members: Readonly<Record<string, object>>): Promise<void> {
    const { apiVersion, kind } = podGroupResource;
    const spec = { minMember: Object.keys(members).length };
    await plane.client.create(podGroupPath('default'), { apiVersion, kind, metadata: { name }, spec });
    for (const [member, nodeSelector] of Object.entries(members)) {
      await addPod(member, { labels: { [podGroupLabel]: name }, nodeSelector });
    }
  }

  const pod = (name: string): Promise<any> => plane.client.get(`/api/v1/namespaces/default/pods/${name}`);
  const patience = { timeout: 20_000 };

  async function expectNode(name: string, node: unknown): Promise<void> {
    await expect.poll(async () => (await pod(name)).spec.nodeName, patience).toEqual(node);
  }

  /** Of why it is not scheduled. */
  async function expectMessage(name: string, part: string): Promise<void> {
    const message = async (): Promise<string> =>
      (await pod(name)).status?.conditions?.find(({ type }: any) => type === 'PodScheduled')?.message ?? '';
    await expect.poll(message, patience).toContain(part);
  }
});
