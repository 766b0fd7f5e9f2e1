import type { Timer } from '../../base/clock.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import type { RunningPlane } from '../../compose/plane.ts';
import { startUpPlane } from '../../compose/up.ts';
import type { UpPlaneOptions } from '../../compose/up.ts';
import { createLogger } from '../../observability/logger.ts';
import type { LogFormat, Logger, LogLevel } from '../../observability/logger.ts';
import type { OwnPlugin } from '../../plugins/own-plugin.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-codes.ts';
import { applyManifests } from '../manifests/apply-manifests.ts';
import { loadManifests } from '../manifests/load-manifests.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { invitation } from './invitation.ts';
import { LiveView } from './live-view.ts';
import { PlainView } from './plain-view.ts';
import { scenarioEnd } from './scenario.ts';
import type { ScenarioEnd } from './scenario.ts';
import { Story } from './story.ts';
import { summarize } from './summary.ts';
import type { UpView } from './up-view.ts';
import { watchCluster } from './watch-cluster.ts';
import type { ClusterWatch } from './watch-cluster.ts';

export interface UpOptions {
  /** Manifest files and folders, applied in this order. */
  readonly files: readonly string[];
  /** End with the scenario, instead of staying for kubectl. */
  readonly exit: boolean;
  readonly naive: boolean;
  readonly nodes: number;
  /** Quantities: what each node has for pods. */
  readonly nodeCpu: string;
  readonly nodeMemory: string;
  readonly nodePods: number;
  /** Of the API server; 0 takes any free one. */
  readonly port: number;
  /** How long a scenario may take with `exit`. */
  readonly timeoutMs: number;
  /** Of the user's own. */
  readonly plugins: readonly OwnPlugin[];
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const tickMs = 100;

/**
 * Runs a control plane in this process, applies manifests to it and shows what happens, until the user interrupts it or, with
 * `exit`, the scenario ends. Answers the exit code. Rejects with ManifestError before anything is started, with
 * startUpPlane's errors, and with ManifestError when the server refuses an object; nothing is left running then.
 */
export async function runUp(options: UpOptions, context: CommandContext): Promise<number> {
  const manifests = await loadManifests(options.files);
  if (context.interruption.signal.aborted) return interruptedCode(options, context);
  const session = new UpSession(options, context);
  try {
    return await session.run(manifests);
  } finally {
    await session.stop();
  }
}

/** A plane that stays until somebody ends it has done what it was asked, whenever that was. */
function interruptedCode({ exit }: UpOptions, { interruption }: CommandContext): number {
  return exit ? (interruption.exitCode ?? exitCodes.failed) : exitCodes.ok;
}

/** One run of the command. */
class UpSession {
  readonly #options: UpOptions;
  readonly #context: CommandContext;
  readonly #startedMs: number;
  readonly #nodes: UpPlaneOptions['nodes'];
  readonly #story = new Story(() => this.#plane?.areNodesMoving() ?? true);
  readonly #view: UpView;
  readonly #logger: Logger;
  #plane: RunningPlane | undefined;
  #transport: HttpTransport | undefined;
  #watch: ClusterWatch | undefined;
  #ticker: Timer | undefined;

  constructor(options: UpOptions, context: CommandContext) {
    this.#options = options;
    this.#context = context;
    this.#startedMs = context.clock.monotonic();
    const { nodeCpu: cpu, nodeMemory: memory, nodePods: pods, logLevel: level, logFormat: format } = options;
    this.#nodes = Array.from({ length: options.nodes }, (_, index) => ({
      name: `node-${index + 1}`,
      allocatable: { cpu, memory, pods },
    }));
    this.#view = this.#createView();
    // Also when it takes too long to stop, and the process does not wait for it.
    context.onExit(() => {
      this.#view.close();
      this.#plane?.abandon();
    });
    this.#logger = createLogger({ level, format, destination: this.#view.log });
  }

  async run(manifests: readonly Manifest[]): Promise<number> {
    const { signal } = this.#context.interruption;
    this.#tick();
    const plane = await this.#startPlane();
    if (signal.aborted) return this.#interrupted();
    this.#introduce(plane);
    const client = this.#connect(plane);
    await this.#startWatch(client, plane.kubeconfigPath);
    const pods = await this.#apply(client, manifests);
    if (signal.aborted) return this.#interrupted();
    const end = await this.#end(pods, this.#elapsed());
    const endMs = this.#elapsed();
    this.#view.tell(this.#story.tick(endMs)); // the deadlock that ends it is told first
    const summary = summarize(this.#story, end, endMs);
    if (this.#options.exit) {
      this.#view.close();
      this.#context.stdout.write(['', ...summary.lines, ''].join('\n'));
      return end.kind === 'interrupted' ? this.#interrupted() : summary.exitCode;
    }
    if (end.kind === 'interrupted') return exitCodes.ok;
    this.#story.forgetGone();
    this.#view.conclude([...summary.lines, '', ...invitation(plane.kubeconfigPath, this.#story.pods())]);
    await this.#context.interruption.requested();
    return exitCodes.ok;
  }

  /** Ends everything that runs; idempotent. */
  async stop(): Promise<void> {
    this.#ticker?.cancel();
    this.#view.close();
    await this.#watch?.stop();
    await this.#transport?.close();
    await this.#plane?.stop();
  }

  async #startPlane(): Promise<RunningPlane> {
    const { port, naive, plugins } = this.#options;
    const starting = startUpPlane({ port, naive, nodes: this.#nodes, plugins, logger: this.#logger });
    // Loaded meanwhile: it takes half a second, which the plane spends waiting as well.
    import('@kubernetes/client-node').catch(() => undefined);
    this.#plane = await starting;
    return this.#plane;
  }

  #introduce({ url, kubeconfigPath }: RunningPlane): void {
    const { nodes, nodeCpu, nodeMemory, naive } = this.#options;
    const size = `${nodes} ${nodes === 1 ? 'node' : 'nodes'} with ${nodeCpu} CPU and ${nodeMemory} each`;
    this.#view.say([
      `control plane at ${url}, ${size}${naive ? ', gang scheduling off (--naive)' : ''}`,
      `export KUBECONFIG=${kubeconfigPath}`,
      'pods that name the scheduler tutti, and those that name none (default-scheduler), are scheduled here',
      '',
    ]);
  }

  #connect({ endpoint }: RunningPlane): KubeClient {
    this.#transport = new HttpTransport({ endpoint });
    return new KubeClient({ transport: this.#transport, clock: this.#context.clock, userAgent: 'tutti-up' });
  }

  async #startWatch(client: KubeClient, kubeconfigPath: string): Promise<void> {
    const { clock, random } = this.#context;
    this.#watch = await watchCluster({
      client,
      kubeconfigPath,
      clock,
      random,
      // What it looks like then is drawn at the next tick: thousands of changes make no more pictures than one.
      onChange: (change) => this.#view.tell(this.#story.change(this.#elapsed(), change)),
      onProblem: (resource, error) => this.#logger.warn('a watch of the view broke', { resource, error }),
    });
  }

  #tick(): void {
    const nowMs = this.#elapsed();
    this.#view.tell(this.#story.tick(nowMs));
    this.#view.refresh(nowMs);
    this.#ticker = this.#context.clock.setTimer(tickMs, () => this.#tick());
  }

  /** Answers the keys of the pods that the manifests made. */
  async #apply(client: KubeClient, manifests: readonly Manifest[]): Promise<readonly string[]> {
    const { interruption } = this.#context;
    try {
      const applied = await applyManifests(client, manifests, interruption.signal);
      return applied.filter(({ kind }) => kind === 'Pod').map(({ namespace, name }) => `${namespace}/${name}`);
    } catch (error) {
      if (interruption.signal.aborted) return [];
      throw error;
    }
  }

  /** Waits for the end of the scenario. Without `exit` there is no time-out. */
  #end(pods: readonly string[], appliedMs: number): Promise<ScenarioEnd> {
    const { exit, timeoutMs: limitMs } = this.#options;
    const { clock, interruption } = this.#context;
    const timeoutMs = exit ? limitMs : Infinity;
    return new Promise((resolve) => {
      const look = (): void => {
        const input = { story: this.#story, nowMs: this.#elapsed(), appliedMs, pods, timeoutMs };
        const end: ScenarioEnd | undefined = interruption.signal.aborted ? { kind: 'interrupted' } : scenarioEnd(input);
        if (end !== undefined) resolve(end);
        else clock.setTimer(tickMs, look);
      };
      look();
    });
  }

  #interrupted(): number {
    return interruptedCode(this.#options, this.#context);
  }

  #elapsed(): number {
    return this.#context.clock.monotonic() - this.#startedMs;
  }

  #createView(): UpView {
    const { stdout, stderr, keyboard, environment, interruption } = this.#context;
    if (stdout.isTTY !== true || environment.TERM === 'dumb') return new PlainView(stdout, stderr);
    return new LiveView({
      output: stdout,
      errors: stderr,
      input: keyboard,
      // no-color.org: any value but the empty one switches colours off.
      hasColors: !environment.NO_COLOR,
      story: this.#story,
      onQuit: () => interruption.interrupt('SIGINT'),
    });
  }
}
