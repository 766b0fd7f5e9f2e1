import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { systemClock } from '../../../src/base/system-clock.ts';
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts';
import { runController } from '../../../src/compose/controller.ts';
import { runScheduler } from '../../../src/compose/scheduler.ts';
import { defaultConfiguration, defaultProfile, noLeaderElection } from '../../../src/config/scheduler-configuration.ts';
import { silentLogger } from '../../../src/observability/silent-logger.ts';
import { WorkloadControllers } from '../../../src/plane/workloads/workload-controllers.ts';
import { SimulatedNodes } from '../../../src/plane/nodes/simulated-nodes.ts';
import { kubectlPath } from '../../planes/kubectl.ts';
import type { TestPlane } from '../../planes/plane.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf } from '../console-blocks.ts';
import type { ConsoleCommand, Transcripts } from '../console-blocks.ts';
import type { PageBlock } from '../markdown-page.ts';
import { StandInOperators } from './stand-in-operators.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const unlimited = { qps: 0, burst: 1 };
const nodes = Array.from({ length: 4 }, (_, index) => ({
  name: `node-${index + 1}`,
  allocatable: { cpu: '16', memory: '64Gi' },
}));
const waitsForEnd = /^kubectl wait .*=Finished\b/;

/**
 * A cluster that runs the commands of the pages for users: four simulated nodes with 16 CPUs each, Tutti's scheduler and controller, and
 * stand-ins for controllers that are not there. Pods run until a command of the page waits for their end; then they succeed.
 */
export class PageCluster {
  readonly #plane: TestPlane;
  readonly #home: string;
  readonly #operators: StandInOperators | undefined;
  /** Cleanup functions; run in reverse order. */
  readonly #started: (() => Promise<unknown>)[] = [];

  private constructor(plane: TestPlane, home: string, hasControllers: boolean) {
    this.#plane = plane;
    this.#home = home;
    this.#operators = hasControllers ? undefined : new StandInOperators(plane.client);
  }

  /** `hasControllers`: real controllers handle Jobs, Deployments and StatefulSets, and no stand-ins run. */
  static async open(plane: TestPlane, { hasControllers }: { readonly hasControllers: boolean }): Promise<PageCluster> {
    const home = await mkdtemp(join(tmpdir(), 'tutti-pages-'));
    const cluster = new PageCluster(plane, home, hasControllers);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { transport, client, kubeconfigPath } = this.#plane;
    const simulated = new SimulatedNodes({ transport, clock: systemClock, random: Math.random, nodes });
    this.#started.push(() => simulated.stop());
    await simulated.start();
    if (this.#operators !== undefined) {
      const jobs = new WorkloadControllers({ transport, clock: systemClock, random: Math.random });
      this.#started.push(() => jobs.stop());
      await jobs.start();
    }
    // A real server taints new nodes until a controller has seen that they are ready.
    for (const node of nodes) await client.patch(`/api/v1/nodes/${node.name}`, 'merge', { spec: { taints: null } });
    const endpoint = await loadKubeconfig({ clock: systemClock, path: kubeconfigPath });
    const shared = { endpoint, serving: { kind: 'local', port: 0 }, logger: silentLogger } as const;
    const controller = await runController({ ...shared, ...unlimited, workers: 1 });
    this.#started.push(() => controller.stop());
    const configuration = defaultConfiguration({
      profiles: [defaultProfile('tutti')],
      clientConnection: unlimited,
      leaderElection: noLeaderElection,
    });
    const scheduler = await runScheduler({ ...shared, configuration });
    this.#started.push(() => scheduler.stop());
    if (this.#operators === undefined) return;
    const operators = this.#operators;
    this.#started.push(() => operators.stop());
    await operators.start();
  }

  /** Stops everything on the plane, and then the plane. */
  async stop(): Promise<void> {
    for (const end of this.#started.splice(0).reverse()) await end();
    await this.#plane.stop();
    await rm(this.#home, { recursive: true, force: true });
  }

  /** Runs the commands of a page's console blocks in a separate namespace, in the top folder of the repository. */
  async play(blocks: readonly PageBlock[], namespace: string): Promise<Transcripts> {
    await this.#plane.client.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    const environment = await this.#environmentIn(namespace);
    const commands = consoleCommandsOf(blocks);
    const outputs: string[] = [];
    for (const command of commands) {
      if (waitsForEnd.test(command.command)) await this.#finishPods(namespace);
      outputs.push(await this.#run(command, environment));
    }
    // The reader uses another namespace.
    return transcriptsOf(
      commands,
      outputs.map((output) => output.replaceAll(namespace, 'default')),
    );
  }

  async #run(command: ConsoleCommand, environment: Record<string, string>): Promise<string> {
    const [output] = await outputsOf([command], environment, root);
    // The embedded plane warns about kinds that it does not act on. Here the stand-ins do.
    return this.#operators === undefined ? output! : output!.replaceAll(/^Warning: .*\n/gm, '');
  }

  /** Lets every running pod succeed. */
  async #finishPods(namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { items } = await this.#plane.client.list(path);
    for (const { metadata } of items as { readonly metadata: { readonly name: string } }[])
      await this.#plane.client.patch(`${path}/${metadata.name}/status`, 'merge', { status: { phase: 'Succeeded' } });
  }

  async #environmentIn(namespace: string): Promise<Record<string, string>> {
    const kubeconfig = parse(await readFile(this.#plane.kubeconfigPath, 'utf8')) as {
      readonly contexts: { readonly context: { namespace?: string } }[];
    };
    for (const { context } of kubeconfig.contexts) context.namespace = namespace;
    const path = join(this.#home, `${namespace}.kubeconfig`);
    await writeFile(path, stringify(kubeconfig), { mode: 0o600 });
    const tools = dirname(await kubectlPath());
    return { HOME: this.#home, KUBECONFIG: path, PATH: `${tools}:${process.env.PATH ?? ''}` };
  }
}
