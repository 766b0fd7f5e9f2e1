import { TimelineClient } from '../../api/timeline/timeline-client.ts';
import type { Timer } from '../../base/clock.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { unlessAborted } from '../../client/wait.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import type { RunningPlane } from '../../compose/plane.ts';
import { startUpPlane } from '../../compose/up.ts';
import type { SimulatedNodeSpec } from '../../plane/nodes/node-object.ts';
import { createLogger } from '../../observability/logger.ts';
import type { LogFormat, Logger, LogLevel } from '../../observability/logger.ts';
import type { OwnPlugin } from '../../plugins/own-plugin.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-codes.ts';
import { applyManifests } from '../manifests/apply-manifests.ts';
import { loadManifests } from '../manifests/load-manifests.ts';
import { ManifestError } from '../manifests/manifest.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { openEvents } from '../timeline/open-events.ts';
import { httpEndpoints } from '../ui/http-endpoints.ts';
import { loadPage } from '../ui/load-page.ts';
import { startPage } from '../ui/start-page.ts';
import type { RunningPage } from '../ui/start-page.ts';
import { describeNodes } from './describe-nodes.ts';
import { GangTimeline } from './gang-timeline.ts';
import { invitation } from './invitation.ts';
import { LiveView } from './live-view.ts';
import { specsOf, takeNodes } from './node-manifests.ts';
import { PlainView } from './plain-view.ts';
import { scenarioEnd } from './scenario.ts';
import type { ScenarioEnd } from './scenario.ts';
import { Story } from './story.ts';
import { summarize } from './summary.ts';
import type { UpView } from './up-view.ts';
import { watchCluster } from './watch-cluster.ts';
import type { ClusterWatch } from './watch-cluster.ts';

export interface UpOptions {
  /** Manifest files and folders, and `-` for standard input, applied in this order. Without any, the cluster starts empty. */
  readonly files: readonly string[];
  /** Exit when the scenario ends, instead of keeping the control plane running for kubectl. */
  readonly exit: boolean;
  readonly naive: boolean;
  /** If false, Tutti runs no scheduler, and the user brings one. */
  readonly scheduler: boolean;
  /** Number of generated nodes. Default: 2, or 0 if the manifests contain Nodes. */
  readonly nodes?: number;
  /** Allocatable resources of each node, as quantities. */
  readonly nodeCpu: string;
  readonly nodeMemory: string;
  readonly nodePods: number;
  /** Other allocatable resources of each node: resource name -> quantity. */
  readonly nodeResource: Readonly<Record<string, string>>;
  /** Port of the API server; 0 selects a free port. */
  readonly port: number;
  /** File for the kubeconfig, which remains after the command ends. Default: a file in a temporary folder. */
  readonly kubeconfig?: string;
  /** Time limit of a scenario with `exit`. */
  readonly timeoutMs: number;
  /** Out-of-tree plugins. */
  readonly plugins: readonly OwnPlugin[];
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Keys (namespace/name) of the applied pods and Jobs. */
interface Applied {
  readonly pods: readonly string[];
  readonly jobs: readonly string[];
}

const tickMs = 100;

/**
 * Runs a control plane in this process, applies manifests to it and shows events, until the user interrupts it or, with `exit`, the
 * scenario ends. Resolves with the exit code. Rejects with ManifestError before it starts anything, with the errors of startUpPlane, or
 * with ManifestError when the API server rejects an object. It stops everything before it rejects.
 */
export async function runUp(options: UpOptions, context: CommandContext): Promise<number> {
  const { nodeCpu: cpu, nodeMemory: memory, nodePods: pods, nodeResource } = options;
  const allocatable = { cpu, memory, pods, ...nodeResource };
  const { signal } = context.interruption;
  // The user may interrupt the command while it reads standard input.
  const readInput = (): Promise<string> => unlessAborted(context.readInput(), signal);
  const loaded = await loadManifests(options.files, readInput).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return [];
  });
  if (signal.aborted) return interruptedCode(options, context);
  const { nodes: own, others: manifests } = takeNodes(loaded, allocatable);
  if (options.exit && manifests.length === 0) {
    throw new ManifestError(['--exit requires a workload: the manifests contain only Nodes']);
  }
  const count = options.nodes ?? (own.length > 0 ? 0 : 2);
  const specs = specsOf(own);
  const numbered = numberedNodes(count, allocatable, new Set(specs.map(({ name }) => name)));
  const session = new UpSession(options, numbered, specs, context);
  try {
    return await session.run(own, manifests);
  } finally {
    await session.stop();
  }
}

/** Returns the exit code after an interruption. Without `exit`, an interruption is the normal way to end the command. */
function interruptedCode({ exit }: UpOptions, { interruption }: CommandContext): number {
  return exit ? (interruption.exitCode ?? exitCodes.failed) : exitCodes.ok;
}

/** Generates nodes named `node-1`, `node-2` and so on, skipping names in `taken`. */
function numberedNodes(
  count: number,
  allocatable: SimulatedNodeSpec['allocatable'],
  taken: ReadonlySet<string>,
): SimulatedNodeSpec[] {
  const nodes: SimulatedNodeSpec[] = [];
  for (let number = 1; nodes.length < count; number++) {
    const name = `node-${number}`;
    if (!taken.has(name)) nodes.push({ name, allocatable });
  }
  return nodes;
}

/** One run of the command. */
class UpSession {
  readonly #options: UpOptions;
  readonly #context: CommandContext;
  readonly #startedMs: number;
  readonly #nodes: readonly SimulatedNodeSpec[];
  /** Nodes from the manifests. */
  readonly #ownNodes: readonly SimulatedNodeSpec[];
  readonly #story = new Story(() => this.#plane?.isMoving() ?? true);
  readonly #gangs: GangTimeline;
  readonly #view: UpView;
  readonly #logger: Logger;
  #plane: RunningPlane | undefined;
  #transport: HttpTransport | undefined;
  #watch: ClusterWatch | undefined;
  #page: RunningPage | undefined;
  /** Ends the client of the timeline. */
  readonly #unfollow = new AbortController();
  #ticker: Timer | undefined;

  constructor(
    options: UpOptions,
    nodes: readonly SimulatedNodeSpec[],
    ownNodes: readonly SimulatedNodeSpec[],
    context: CommandContext,
  ) {
    this.#options = options;
    this.#context = context;
    this.#startedMs = context.clock.monotonic();
    const { logLevel: level, logFormat: format } = options;
    this.#nodes = nodes;
    this.#ownNodes = ownNodes;
    this.#gangs = new GangTimeline(context.clock);
    this.#view = this.#createView();
    // Restore the terminal also if stopping takes too long and the process exits.
    context.onExit(() => {
      this.#view.close();
    });
    if (!options.exit) context.interruption.completesCommand();
    this.#logger = createLogger({ level, format, destination: this.#view.log });
  }

  /** Applies `nodes`, which are manifests of Nodes, before `manifests`. */
  async run(nodes: readonly Manifest[], manifests: readonly Manifest[]): Promise<number> {
    const { signal } = this.#context.interruption;
    this.#tick();
    const plane = await this.#startPlane();
    if (signal.aborted) return this.#interrupted();
    this.#followTimeline(plane);
    await this.#startPage(plane);
    this.#introduce(plane);
    const client = this.#connect(plane);
    await this.#startWatch(client);
    const applied = await this.#apply(client, [...nodes, ...manifests]);
    if (signal.aborted) return this.#interrupted();
    if (manifests.length === 0 && !this.#options.exit) return this.#stay(invitation(plane.kubeconfigPath, undefined));
    const end = await this.#end(applied, this.#elapsed());
    const endMs = this.#elapsed();
    this.#view.notify(this.#story.tick(endMs)); // report the deadlock that ends the scenario before the summary
    const summary = summarize(this.#story, end, endMs);
    if (this.#options.exit) {
      this.#view.close();
      this.#context.stdout.write(['', ...summary.lines, ''].join('\n'));
      return end.kind === 'interrupted' ? this.#interrupted() : summary.exitCode;
    }
    if (end.kind === 'interrupted') return exitCodes.ok;
    return this.#stay([...summary.lines, '', ...invitation(plane.kubeconfigPath, this.#story.pods())]);
  }

  /** Keeps the control plane running until the user interrupts the command. */
  async #stay(lines: readonly string[]): Promise<number> {
    this.#story.forgetGone();
    this.#view.conclude(lines);
    await this.#context.interruption.requested();
    return exitCodes.ok;
  }

  /** Stops everything. Idempotent. */
  async stop(): Promise<void> {
    this.#ticker?.cancel();
    this.#unfollow.abort();
    this.#view.close();
    await this.#page?.close();
    await this.#watch?.stop();
    await this.#transport?.close();
    await this.#plane?.stop();
  }

  async #startPlane(): Promise<RunningPlane> {
    const { port, naive, scheduler, plugins, kubeconfig } = this.#options;
    const starting = startUpPlane({
      port,
      naive,
      scheduler,
      nodes: this.#nodes,
      plugins,
      logger: this.#logger,
      onExit: this.#context.onExit,
      ...(kubeconfig !== undefined && { kubeconfigFile: kubeconfig }),
    });
    this.#plane = await starting;
    return this.#plane;
  }

  /** Only the live view shows the scheduler's timeline. Partial starts rest on what the API server shows. */
  #followTimeline({ schedulerUrl }: RunningPlane): void {
    if (schedulerUrl === undefined || !(this.#view instanceof LiveView)) return;
    const { clock, random } = this.#context;
    const endpoints = httpEndpoints(schedulerUrl);
    const client = new TimelineClient({
      open: (lastEventId, signal) => openEvents(endpoints, lastEventId, signal),
      ...{ clock, random },
      onChange: (received) => this.#gangs.take(received),
    });
    void client.run(this.#unfollow.signal);
  }

  /** Serves the timeline of the scheduler, unless the command ends by itself. */
  async #startPage({ schedulerUrl }: RunningPlane): Promise<void> {
    if (schedulerUrl === undefined || this.#options.exit) return;
    this.#page = await startPage({ files: loadPage, port: 0, endpoints: httpEndpoints(schedulerUrl) });
  }

  #introduce({ url, kubeconfigPath, schedulerUrl, controllerUrl }: RunningPlane): void {
    const { naive, scheduler } = this.#options;
    const endpoints = [
      ...(schedulerUrl === undefined ? [] : [`scheduler ${schedulerUrl}`]),
      `controller ${controllerUrl}`,
    ];
    this.#view.print([
      `control plane at ${url}, ${describeNodes([...this.#ownNodes, ...this.#nodes])}${naive ? ', gang scheduling off (--naive)' : ''}`,
      `export KUBECONFIG=${kubeconfigPath}`,
      scheduler
        ? 'Tutti schedules pods with schedulerName tutti or default-scheduler (the default)'
        : 'no scheduler is running (--no-scheduler): pods stay pending until a scheduler that uses this kubeconfig binds them',
      `endpoints: ${endpoints.join(', ')}`,
      ...(this.#page === undefined ? [] : [`timeline: ${this.#page.link}`]),
      '',
    ]);
  }

  #connect({ endpoint }: RunningPlane): KubeClient {
    this.#transport = new HttpTransport({ endpoint });
    return new KubeClient({ transport: this.#transport, clock: this.#context.clock, userAgent: 'tutti-up' });
  }

  async #startWatch(client: KubeClient): Promise<void> {
    const { clock, random } = this.#context;
    this.#watch = await watchCluster({
      client,
      clock,
      random,
      // The next tick draws the result, so thousands of changes cause a single redraw.
      onChange: (change) => this.#view.notify(this.#story.change(this.#elapsed(), change)),
      onProblem: (resource, error) =>
        this.#logger.warn('cannot watch resource for display; retrying', { resource, error }),
    });
  }

  #tick(): void {
    const nowMs = this.#elapsed();
    this.#view.notify(this.#story.tick(nowMs));
    this.#view.refresh(nowMs);
    this.#ticker = this.#context.clock.setTimer(tickMs, () => this.#tick());
  }

  /** Applies the manifests. Resolves with the keys of their pods and Jobs. */
  async #apply(client: KubeClient, manifests: readonly Manifest[]): Promise<Applied> {
    const { interruption } = this.#context;
    try {
      const applied = await applyManifests(client, manifests, interruption.signal);
      const keysOf = (wanted: string): string[] =>
        applied.filter(({ kind }) => kind === wanted).map(({ namespace, name }) => `${namespace}/${name}`);
      return { pods: keysOf('Pod'), jobs: keysOf('Job') };
    } catch (error) {
      if (interruption.signal.aborted) return { pods: [], jobs: [] };
      throw error;
    }
  }

  /** Waits for the end of the scenario. Without `exit`, no timeout applies. */
  #end(applied: Applied, appliedMs: number): Promise<ScenarioEnd> {
    const { exit, timeoutMs: limitMs } = this.#options;
    const { clock, interruption } = this.#context;
    const timeoutMs = exit ? limitMs : Infinity;
    return new Promise((resolve) => {
      const check = (): void => {
        const input = { story: this.#story, nowMs: this.#elapsed(), appliedMs, ...applied, timeoutMs };
        const end: ScenarioEnd | undefined = interruption.signal.aborted ? { kind: 'interrupted' } : scenarioEnd(input);
        if (end !== undefined) resolve(end);
        else clock.setTimer(tickMs, check);
      };
      check();
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
      // no-color.org: any non-empty value disables colors.
      hasColors: !environment.NO_COLOR,
      story: this.#story,
      gang: (group) => this.#gangs.of(group),
      onQuit: () => interruption.interrupt('SIGINT'),
    });
  }
}
