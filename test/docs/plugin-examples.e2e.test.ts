import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath, podGroupResource } from '../../src/api/pod-group.ts';
import { claimBlocks } from './block-claims.ts';
import { exampleInComment, examplesIn } from './examples-in.ts';
import type { DocumentedExample } from './examples-in.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import type { TestPlane } from '../planes/plane.ts';
import { ReaderFolder } from './reader-folder.ts';

const ofPage = examplesIn(claimBlocks('docs/plugins.md', 'ts'));
const ofLibrary = await exampleInComment('src/index.ts');

describe('The examples of docs/plugins.md and src/index.ts', () => {
  let folder: ReaderFolder;
  let plane: TestPlane;

  beforeAll(async () => {
    folder = await ReaderFolder.make();
    for (const example of ofPage) await folder.write(example);
  });

  beforeEach(async () => {
    plane = await openEmbeddedPlane();
    vi.stubEnv('KUBECONFIG', plane.kubeconfigPath);
    // Their schedulers log to standard error.
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
    expect([...ofPage, ofLibrary].map(({ name }) => name)).toEqual([
      'teamNodes',
      'nightNodes',
      'preemptCheapest',
      'noFridays',
    ]);
  });

  it('compile in a reader’s project', async () => {
    await folder.write(ofLibrary);
    expect(await folder.compile()).toBe('');
  });

  it('teamNodes: a node with a team accepts only pods of that team', async () => {
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

  it('nightNodes: results from the night are not reused by day, although pod and node are the same', async () => {
    setTime('03:00');
    await using _ = await running('nightNodes');
    await addNode('dark', { labels: { 'night-only': 'true' } });
    await addPod('lone', {});
    await expectNode('lone', 'dark');
    // The small member would fit there, and nothing changes the node, so this result could be reused.
    await addNode('darker', { labels: { 'night-only': 'true', size: 'small' } });
    await addGang('pair', {
      small: { nodeSelector: { size: 'small' } },
      large: { nodeSelector: { size: 'large' } },
    });
    await expectMessage('small', "large finds no node: 0/2 nodes are available: 2 node(s) didn't match");

    setTime('12:00');
    await addNode('bright', { labels: { size: 'large' } });
    await expectMessage('small', '1 node(s) are kept for the night');
    await addNode('brighter', { labels: { size: 'small' } });
    await expectNode('small', 'brighter');
    await expectNode('large', 'bright');
  });

  it('preemptCheapest: evicts the cheapest group for one of higher priority that then fits as a whole; otherwise evicts none', async () => {
    await using _ = await running('preemptCheapest');
    for (const [name, value] of Object.entries({ low: 10, high: 100, highest: 1_000 })) await addPriority(name, value);
    for (const name of ['a', 'b']) await addNode(name, {});
    await addGang('batch', members(2, { cpu: '5' }));
    await addPod('web', { cpu: '1', priority: 'low' });
    for (const name of ['batch-0', 'batch-1', 'web']) await expectNode(name, expect.stringMatching(/^[ab]$/));

    await addGang('peers', members(2, { cpu: '6' }));
    await expectMessage('peers-0', 'PodGroup default/peers cannot start');
    await addGang('huge', members(3, { cpu: '6', priority: 'highest' }));
    await expectMessage('huge-0', 'It would not fit even if all other pods were gone.');
    expect(await leaving()).toEqual([]);

    await addGang('urgent', members(2, { cpu: '6', priority: 'high' }));
    await expectMessage('urgent-0', 'Evicts 2 pods of lower priority to free capacity for it.');
    await expect.poll(leaving).toEqual(['batch-0', 'batch-1']);
    expect((await pod('batch-0')).status.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', reason: 'PreemptionByScheduler' }),
    );
    // As their nodes would, one after the other: the capacity is reserved until all of it is free.
    await end('batch-0');
    await addPod('lurker', { cpu: '3', priority: 'low' });
    await expectMessage('lurker', '0/2 nodes are available');
    expect((await pod('urgent-0')).spec.nodeName).toBeUndefined();
    await end('batch-1');
    await expectNode('urgent-0', expect.stringMatching(/^[ab]$/));
    await expectNode('urgent-1', expect.stringMatching(/^[ab]$/));
    expect(await leaving()).toEqual([]);
    expect((await pod('web')).spec.nodeName).toBeDefined();
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

  /** Sets the UTC time of this process. */
  function setTime(time: string, date = '2027-01-02'): void {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${date}T${time}:00Z`) });
  }

  async function addNode(name: string, { labels = {} }: { readonly labels?: object }): Promise<void> {
    const amounts = { cpu: '8', memory: '8Gi', pods: '10' };
    const metadata = { name, labels };
    const status = { allocatable: amounts, capacity: amounts };
    await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata, status });
  }

  async function addPriority(name: string, value: number): Promise<void> {
    const [apiVersion, kind] = ['scheduling.k8s.io/v1', 'PriorityClass'];
    await plane.client.create(`/apis/${apiVersion}/priorityclasses`, { apiVersion, kind, metadata: { name }, value });
  }

  interface PodOptions {
    readonly labels?: object;
    readonly nodeSelector?: object;
    readonly cpu?: string;
    /** Name of a priority class. */
    readonly priority?: string;
  }

  async function addPod(name: string, { labels = {}, nodeSelector = {}, cpu, priority }: PodOptions): Promise<void> {
    const requests = cpu === undefined ? {} : { cpu };
    const containers = [{ name: 'main', image: 'busybox', resources: { requests } }];
    const spec = { schedulerName: 'tutti', nodeSelector, containers, ...(priority && { priorityClassName: priority }) };
    const metadata = { name, labels };
    await plane.client.create(podsPath, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  }

  /** Creates a gang whose quorum is all members. */
  async function addGang(
    name: string,
    members: Readonly<Record<string, PodOptions>> | readonly PodOptions[],
  ): Promise<void> {
    const { apiVersion, kind } = podGroupResource;
    const all = Array.isArray(members)
      ? members.map((options, i) => [`${name}-${i}`, options] as const)
      : Object.entries(members);
    const spec = { minMember: all.length };
    await plane.client.create(podGroupPath('default'), { apiVersion, kind, metadata: { name }, spec });
    for (const [member, options] of all) await addPod(member, { ...options, labels: { [podGroupLabel]: name } });
  }

  const members = (count: number, options: PodOptions): PodOptions[] => Array.from({ length: count }, () => options);

  const podsPath = '/api/v1/namespaces/default/pods';

  /** Ends the pod as its node does when it has terminated. */
  async function end(name: string): Promise<void> {
    await plane.client.delete(`${podsPath}/${name}`, { gracePeriodSeconds: 0 });
  }

  /** Returns the names of the terminating pods, sorted. */
  async function leaving(): Promise<string[]> {
    const { items } = await plane.client.get<any>(podsPath);
    const deleted = items.filter(({ metadata }: any) => metadata.deletionTimestamp !== undefined);
    return deleted.map(({ metadata }: any) => metadata.name).sort();
  }

  const pod = (name: string): Promise<any> => plane.client.get(`${podsPath}/${name}`);

  async function expectNode(name: string, node: unknown): Promise<void> {
    await expect.poll(async () => (await pod(name)).spec.nodeName).toEqual(node);
  }

  /** Waits until the message of its PodScheduled condition contains `part`. */
  async function expectMessage(name: string, part: string): Promise<void> {
    const message = async (): Promise<string> =>
      (await pod(name)).status?.conditions?.find(({ type }: any) => type === 'PodScheduled')?.message ?? '';
    await expect.poll(message).toContain(part);
  }
});
