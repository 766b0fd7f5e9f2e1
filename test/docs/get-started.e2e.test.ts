import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.ts';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { SimulatedNodes } from '../../src/plane/nodes/simulated-nodes.ts';
import { ChartRelease } from '../chart/installed-chart.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { helmPath, kubectlPath } from '../planes/kubectl.ts';
import { claimBlocks } from './block-claims.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf } from './console-blocks.ts';
import type { ConsoleCommand, Transcripts } from './console-blocks.ts';
import { missingLines } from './missing-lines.ts';

const kubectlFolder = dirname(await kubectlPath());
const helmFolder = dirname(await helmPath('3.17'));
const byName = (command: string): ConsoleCommand => ({ command, output: '' });

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tutti-get-started-'));
});

afterAll(() => rm(home, { recursive: true }));

async function play(commands: readonly ConsoleCommand[], kubeconfig: string): Promise<Transcripts> {
  const path = [kubectlFolder, helmFolder, process.env.PATH].join(':');
  const environment = { HOME: home, KUBECONFIG: kubeconfig, PATH: path };
  const outputs = await outputsOf(
    commands.map(({ command }) => byName(command.replace(/^export KUBECONFIG=….*/, ':'))),
    environment,
    process.cwd(),
  );
  return transcriptsOf(commands, outputs);
}

describe('On a laptop', () => {
  const ofPages = [
    ...claimBlocks('README.md', 'console'),
    ...claimBlocks('docs/get-started.md', 'console', 'On a laptop, in two minutes'),
    ...claimBlocks('examples/deadlock/README.md', 'console'),
  ].flatMap((block) => consoleCommandsOf([block]).map((command) => ({ ...command, page: block.page })));
  const pages = ['README.md', 'docs/get-started.md', 'examples/deadlock/README.md'];
  const start = /^(?:npm ci && )?npm start(?: -- (.*))?$/;
  const flagsOf = ({ command }: ConsoleCommand): string => start.exec(command)?.[1] ?? '';
  let up: TestProcess;

  beforeAll(async () => {
    up = new TestProcess(['up']);
    await up.said(/partial starts$/m);
  });

  afterAll(() => up.kill());

  it.each(pages)('%s: npm start and then kubectl print what the page shows', async (page) => {
    const commands = ofPages.filter((command) => command.page === page && flagsOf(command) === '');
    const starts = commands.filter(({ command }) => start.test(command));
    const others = commands.filter(({ command }) => !start.test(command));
    expect([starts.length, others.length]).toEqual([1, expect.toSatisfy((count: number) => count > 1)]);
    expect(missingLines(starts[0]!.output, up.stdout)).toEqual([]);
    const kubeconfig = /^export KUBECONFIG=(\S+)$/m.exec(up.stdout)![1]!;
    const { printed, expected } = await play(others, kubeconfig);
    expect(printed).toEqual(expected);
    // The next page starts from a clean cluster.
    const applied = others.flatMap(({ command }) => /^kubectl apply -f (\S+)$/.exec(command)?.[1] ?? []);
    await play(
      [byName(`kubectl delete --ignore-not-found ${applied.map((file) => `-f ${file}`).join(' ')}`)],
      kubeconfig,
    );
  });

  it.concurrent.each(ofPages.filter((command) => flagsOf(command) !== ''))('$page: $command', async (command) => {
    const process = new TestProcess(['up', ...flagsOf(command).split(' ')]);
    await process.ended();
    expect(missingLines(command.output, process.stdout)).toEqual([]);
    expect(command.output).not.toBe('');
  });
});

const programs = await provideForSuite('docs/get-started.md, on a cluster', ['etcd', 'kube-apiserver']);

describe.skipIf(programs.state === 'missing')('On a cluster', () => {
  const blocks = claimBlocks('docs/get-started.md', 'console', 'On a cluster, in five minutes');
  const withDefinition = claimBlocks('docs/get-started.md', 'console', 'If the cluster already has the PodGroup CRD');
  const commands = consoleCommandsOf(blocks.filter(({ line }) => withDefinition.every((other) => other.line !== line)));
  const outside = claimBlocks('docs/get-started.md', 'sh', 'On a cluster, without an image');
  const plane = planeForSuite(programs);
  let nodes: SimulatedNodes;
  let tutti: ChartRelease;
  const running: TestProcess[] = [];

  beforeAll(async () => {
    const allocatable = { cpu: '4', memory: '8Gi' };
    const { transport } = plane();
    const specs = [{ name: 'kind-control-plane', allocatable }];
    nodes = new SimulatedNodes({ transport, clock: systemClock, random: Math.random, nodes: specs });
    await nodes.start();
    // A real server taints new nodes until a controller has seen that they are ready.
    await plane().client.patch('/api/v1/nodes/kind-control-plane', 'merge', { spec: { taints: null } });
    tutti = new ChartRelease({ ...plane(), folder: home }, 'tutti', 'tutti-system');
  });

  afterAll(async () => {
    for (const each of running) await each.kill();
    await tutti.stop();
    await nodes.stop();
  });

  /** Removes the release and the CRD. Planes have the CRD from the start, clusters do not. */
  async function removeTutti(): Promise<void> {
    const remove = [
      'helm uninstall tutti --namespace tutti-system --ignore-not-found',
      'kubectl delete customresourcedefinition podgroups.scheduling.x-k8s.io',
    ];
    await play(remove.map(byName), plane().kubeconfigPath);
  }

  /** Does what a cluster does for the chart's Deployments: runs their processes and updates the status. */
  async function rollOut(): Promise<void> {
    for (const component of ['scheduler', 'controller'] as const) {
      await tutti.run(component, '3.17');
      const path = `/apis/apps/v1/namespaces/tutti-system/deployments/tutti-${component}`;
      const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
      await plane().client.patch(`${path}/status`, 'merge', { status: { observedGeneration: 1, ...counts } });
    }
  }

  it('docs/get-started.md: installs Tutti on a cluster that has the CRD', async () => {
    const { printed, expected } = await play(consoleCommandsOf(withDefinition), plane().kubeconfigPath);
    expect(printed).toEqual(expected);
  });

  it('docs/get-started.md: installs Tutti, starts a gang, and cleans up', async () => {
    await removeTutti();
    const installed = commands.findIndex(({ command }) => command.startsWith('helm install')) + 1;
    const parts = [commands.slice(0, installed), commands.slice(installed)];
    const first = await play(parts[0]!, plane().kubeconfigPath);
    await rollOut();
    const second = await play(parts[1]!, plane().kubeconfigPath);
    expect([...first.printed, ...second.printed]).toEqual([...first.expected, ...second.expected]);
  });

  it('docs/get-started.md: runs the processes on any machine', async () => {
    const lines = outside.flatMap(({ code }) => code.trim().split('\n'));
    const starts = lines.flatMap((line) => /^node dist\/cli\.js (.*) &$/.exec(line)?.[1] ?? []);
    const others = lines.filter((line) => !line.startsWith('node ') && line !== 'npm run build');
    expect([starts.length, others]).toEqual([2, ['kubectl apply -f crds/']]);
    const [applied] = (await play(others.map(byName), plane().kubeconfigPath)).printed;
    expect(applied).toMatch(/podgroups\.scheduling\.x-k8s\.io created$/);
    for (const parameters of starts) {
      const given = parameters.replace('~/.kube/config', plane().kubeconfigPath).split(' ');
      running.push(new TestProcess([...given, '--secure-port', '0', '--bind-address', '127.0.0.1']));
    }
    const gang = [
      'kubectl apply -f examples/gang/gang.yaml',
      'kubectl wait pg/trio --for=condition=Ready --timeout=20s',
    ];
    const { printed } = await play(gang.map(byName), plane().kubeconfigPath);
    expect(printed.at(-1)).toMatch(/condition met$/);
  });
});
