import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../api/pod-group.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { freshHome } from '../testing/fresh-home.ts';
import { ServedLists } from './testing/served-lists.ts';

const home = freshHome('hostile');
const build = new Builders();
/** Clears the terminal, writes from right to left, and forges a line. */
const hostile = '\u001b[2J\u202e\u009b31m\r\nforged: fits\u0007\u2066';
const megabyte = 'x'.repeat(2 ** 20);
let api: ServedLists;
let kubeconfig: string;

interface Ended {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

async function tutti(...parameters: readonly string[]): Promise<Ended> {
  const process = home.tutti([...parameters, '--kubeconfig', kubeconfig]);
  const { exitCode } = await process.ended();
  return { exitCode, stdout: process.stdout, stderr: process.stderr };
}

beforeAll(async () => {
  api = await ServedLists.start();
});

afterAll(() => api.close());

beforeEach(async () => {
  kubeconfig = join(home.path, 'kubeconfig');
  await writeFile(kubeconfig, localKubeconfig(api.url));
  api.deny = () => undefined;
  const conditions = [
    {
      type: 'PodScheduled' as const,
      status: 'False' as const,
      reason: `Unschedulable${hostile}`,
      message: `${hostile}${megabyte}`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  const waiting = (name: string, group: string): object =>
    build.pod({
      name,
      group,
      cpu: 2,
      schedulerName: 'tutti',
      annotations: { note: `${hostile}${megabyte}` },
      nodeSelector: { [`k${hostile}`]: hostile },
      conditions,
    });
  const pods = [
    waiting('red-0', 'red'),
    waiting(`red-1${hostile}`, 'red'),
    waiting(`x${hostile}`, `blue${hostile}`),
    build.pod({ name: `run${hostile}`, nodeName: 'n1', cpu: 3, schedulerName: 'tutti' }),
    build.pod({ name: 'red-2', group: 'red', nodeName: 'n1', cpu: 1, schedulerName: 'tutti', job: `j${hostile}` }),
  ];
  const nodes = [
    build.node({ name: 'n1', cpu: 4, taints: [{ key: `t${hostile}`, value: megabyte, effect: 'NoSchedule' }] }),
    build.node({ name: `n2${hostile}`, cpu: 4, labels: { [hostile]: hostile } }),
  ];
  const groups = [
    build.podGroup({ name: 'red', minMember: 3 }),
    build.podGroup({ name: `blue${hostile}`, minMember: 1 }),
  ];
  for (const place of ['', '/namespaces/default']) {
    api.lists.set(`/api/v1${place}/pods`, pods);
    api.lists.set(`/apis/scheduling.x-k8s.io/v1alpha1${place}/podgroups`, groups);
  }
  api.lists.set(podGroupPath(), groups);
  api.lists.set('/api/v1/nodes', nodes);
});

async function planFile(): Promise<string> {
  const path = join(home.path, 'pod.yaml');
  const { metadata, spec } = build.pod({ name: 'new', cpu: 9, schedulerName: 'tutti' });
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: metadata.name }, spec }));
  return path;
}

const commandLines = [
  'status -A',
  'status --pods -o wide',
  'status -o json',
  'status -o yaml',
  'status -o name',
  'why red',
  'why red -o json',
  'why red -o yaml',
  'why red --source conditions',
  'queue',
  'queue -o json',
  'drain-check n1',
  'drain-check n1 -o yaml',
];

describe('KP6: text of others', () => {
  it.each(commandLines)('moves no cursor, forges no line and fills no terminal in %s', async (line) => {
    const { exitCode, stdout, stderr } = await tutti(...line.split(' '));
    expect([0, 5]).toContain(exitCode);
    expect(stdout + stderr).toMatch(/^[ -~\n…]*$/);
    expect(stdout).not.toMatch(/^forged/m);
    expect(stdout.length + stderr.length).toBeLessThan(40_000);
    expect(stdout).toContain('\\u001b[2J');
  });

  it('does the same in a plan, and in the message of an API server that denies', async () => {
    api.deny = (method) => (method === 'POST' ? [403, `no${hostile}${megabyte}`] : undefined);
    const { stdout, stderr } = await tutti('plan', '-f', await planFile());
    expect(stdout + stderr).toMatch(/^[ -~\n…]*$/);
    expect(stderr).toContain('no\\u001b[2J');
    expect(stdout.length + stderr.length).toBeLessThan(40_000);
  });
});
