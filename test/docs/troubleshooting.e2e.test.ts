import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { fixedEndpoint } from '../../src/client/endpoint.ts';
import { runController } from '../../src/compose/controller.ts';
import type { RunningProcess } from '../../src/compose/running-process.ts';
import { runScheduler } from '../../src/compose/scheduler.ts';
import { defaultConfiguration, defaultProfile, noLeaderElection } from '../../src/config/scheduler-configuration.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { openEmbeddedPlane } from '../planes/embedded.ts';
import { kubectlPath } from '../planes/kubectl.ts';
import type { TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf } from './console-blocks.ts';
import { verdictTexts } from './verdict-texts.ts';

const blocks = claimBlocks('docs/troubleshooting.md', 'console');
const unlimited = { qps: 0, burst: 1 };
const groupLabel = 'scheduling.x-k8s.io/pod-group';

let plane: TestPlane;
/** Home folder with kubectl's cache. */
let home: string;
const processes: RunningProcess[] = [];

beforeAll(async () => {
  plane = await openEmbeddedPlane();
  home = await mkdtemp(join(tmpdir(), 'tutti-troubleshooting-'));
  for (const name of ['node-1', 'node-2']) {
    const amounts = { cpu: '1', memory: '4Gi', pods: '10' };
    await plane.client.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { allocatable: amounts, capacity: amounts },
    });
  }
  const shared = {
    endpoint: fixedEndpoint(plane.url),
    serving: { kind: 'local', port: 0 },
    logger: silentLogger,
  } as const;
  processes.push(await runController({ ...shared, ...unlimited, workers: 1 }));
  const configuration = defaultConfiguration({
    profiles: [defaultProfile('tutti')],
    clientConnection: unlimited,
    leaderElection: noLeaderElection,
  });
  processes.push(await runScheduler({ ...shared, configuration }));
  await createGang('train', 3, 3);
  await createGang('early', 3, 1);
  await poll(async () => {
    const { items } = await plane.client.list('/apis/events.k8s.io/v1/events');
    const reported = items.filter((event) => JSON.stringify(event).includes('"kind":"PodGroup"'));
    return reported.length === 2 ? undefined : `${reported.length} groups have an Event`;
  }, 'both groups have an Event with the reason');
});

afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  await plane.stop();
  await rm(home, { recursive: true });
});

async function createGang(name: string, minMember: number, members: number): Promise<void> {
  await plane.client.create(podGroupPath('default'), {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { minMember },
  });
  for (let index = 0; index < members; index++) {
    const containers = [{ name: 'main', image: 'train:1', resources: { requests: { cpu: '800m' } } }];
    await plane.client.create('/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-${index}`, labels: { [groupLabel]: name } },
      spec: { schedulerName: 'tutti', containers },
    });
  }
}

it('docs/troubleshooting.md shows what kubectl prints about a stuck gang', async () => {
  const commands = consoleCommandsOf(blocks);
  const environment = {
    HOME: home,
    KUBECONFIG: plane.kubeconfigPath,
    PATH: `${dirname(await kubectlPath())}:${process.env.PATH ?? ''}`,
  };
  const { printed, expected } = transcriptsOf(commands, await outputsOf(commands, environment, home));
  expect(printed).toEqual(expected);
  expect(commands).toHaveLength(5);
});

describe('DO4 docs/troubleshooting.md has', () => {
  const text = readFileSync('docs/troubleshooting.md', 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  const firstCells = [...text.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)]);
  const named = new Set([...headings, ...firstCells.map(([, name]) => name!)]);
  const { messages, ...codes } = verdictTexts();
  /** Messages that are not verdicts: the API server sets the condition of single pods with gates. */
  const elsewhere = ['waiting for scheduling gates: […]'];

  it.each(Object.entries(codes))('a heading or a row for all %s', (_kind, list) => {
    expect(list.length).toBeGreaterThan(2);
    expect(list.filter((code) => !named.has(code))).toEqual([]);
  });

  it('a row for each message of the scheduler and its plugins', () => {
    expect(messages.length).toBeGreaterThan(30);
    expect(messages.filter((message) => !named.has(message) && !elsewhere.includes(message))).toEqual([]);
    for (const message of elsewhere) expect(text).toContain(message);
  });

  it('no row for a message that no longer exists', () => {
    const known = new Set([...messages, ...Object.values(codes).flat()]);
    expect(firstCells.map(([, name]) => name!).filter((name) => !known.has(name))).toEqual([]);
  });
});
