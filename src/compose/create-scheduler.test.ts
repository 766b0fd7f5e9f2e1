import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import type { TestPlane } from '../../test/planes/plane.ts';
import { defaultConfiguration } from '../config/scheduler-configuration.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { createScheduler } from './create-scheduler.ts';
import type { RunningProcess } from './running-process.ts';

let plane: TestPlane;
let folder: string;
let scheduler: RunningProcess | undefined;
beforeEach(async () => {
  plane = await openEmbeddedPlane();
  folder = await mkdtemp(join(tmpdir(), 'tutti-create-'));
});
afterEach(async () => {
  await scheduler?.stop();
  scheduler = undefined;
  await plane.stop();
  await rm(folder, { recursive: true });
});

async function configFile(...lines: readonly string[]): Promise<string> {
  const path = join(folder, 'scheduler.yaml');
  const header = ['apiVersion: kubescheduler.config.k8s.io/v1', 'kind: KubeSchedulerConfiguration'];
  const connection = `clientConnection: {kubeconfig: ${JSON.stringify(plane.kubeconfigPath)}}`;
  await writeFile(path, [...header, connection, ...lines, ''].join('\n'));
  return path;
}

async function addNode(name: string): Promise<void> {
  const amounts = { cpu: '2', memory: '1Gi', pods: '10' };
  const status = { allocatable: amounts, capacity: amounts };
  await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, status });
}

async function addPod(name: string, schedulerName: string): Promise<void> {
  const spec = { schedulerName, containers: [{ name: 'main', image: 'busybox' }] };
  await plane.client.create('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec,
  });
}

async function expectNode(pod: string, node: string): Promise<void> {
  const path = `/api/v1/namespaces/default/pods/${pod}`;
  await expect
    .poll(async () => (await plane.client.get<{ spec: { nodeName?: string } }>(path)).spec.nodeName)
    .toBe(node);
}

/** Accepts only the node that its arguments name. */
const only: OwnPlugin = {
  name: 'Only',
  args: { node: 'a' },
  factory: (args) => {
    const { node: allowed } = args as { readonly node: string };
    return { name: 'Only', preFilter: () => ({ nodeNames: new Set([allowed]) }) };
  },
};

describe('createScheduler', () => {
  it('runs a configuration file with the plugins that its profiles enable', async () => {
    const file = await configFile(
      'profiles:',
      '- schedulerName: plain',
      '  plugins: {filter: {enabled: [{name: NodeName}]}}',
      '- schedulerName: on-a',
      '  plugins: {multiPoint: {enabled: [{name: Only}]}}',
      '- schedulerName: on-b',
      '  plugins: {preFilter: {enabled: [{name: Only}]}}',
      '  pluginConfig: [{name: Only, args: {node: b}}]',
    );
    scheduler = await createScheduler({ configFile: file, plugins: [only], logger: silentLogger });
    await addNode('b');
    await addPod('plain', 'plain');
    await addPod('first', 'on-b');
    await expectNode('plain', 'b');
    await expectNode('first', 'b');
    await addPod('second', 'on-a');
    await addNode('a');
    await expectNode('second', 'a');
  });

  it('reports a plugin that does not implement the extension point in the file', async () => {
    const file = await configFile('profiles:', '- plugins: {score: {enabled: [{name: Only}]}}');
    await expect(createScheduler({ configFile: file, plugins: [only], logger: silentLogger })).rejects.toThrow(
      new RegExp(
        `:5:\\d+: profiles\\[0\\].plugins.score.enabled\\[0\\].name cannot be used: plugin Only does not implement score; it implements preFilter$`,
      ),
    );
  });

  it('accepts a configuration object', async () => {
    scheduler = await createScheduler({
      kubeconfig: plane.kubeconfigPath,
      configuration: defaultConfiguration(),
      logger: silentLogger,
    });
    await addNode('a');
    await addPod('worker', 'default-scheduler');
    await expectNode('worker', 'a');
  });

  it('rejects more than one source of profiles', async () => {
    await expect(createScheduler({ configFile: 'a', schedulerNames: ['b'] })).rejects.toThrow(
      new TypeError('set only one of configFile and schedulerNames: each defines the profiles'),
    );
  });

  it('rejects an extender whose files are missing', async () => {
    const extender = 'urlPrefix: "https://127.0.0.1:1/x", filterVerb: filter, tlsConfig: {caFile: /does/not/exist}';
    const file = await configFile(`extenders: [{${extender}}]`);
    await expect(createScheduler({ configFile: file, logger: silentLogger })).rejects.toThrow(
      expect.objectContaining({
        name: 'ExtenderConfigurationError',
        message: expect.stringContaining('extenders[0].tlsConfig.caFile must be a readable file'),
      }),
    );
  });
});
