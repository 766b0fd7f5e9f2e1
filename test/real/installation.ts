import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestProcess, tuttiPath } from '../../src/cli/testing/test-process.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';

/** Common flags of the two commands. Without a rate limit, so that tests do not wait for it. */
const serverFlags = ['--secure-port', '0', '--kube-api-qps', '0', '--log-format', 'json'];

export interface ProcessOptions {
  readonly through?: ApiProxy;
  /** Flags for leader election. Default: no election. */
  readonly election?: readonly string[];
  /** Other flags. */
  readonly parameters?: readonly string[];
  /** Runs it with the Node flags that save memory, as users do. Default: false. */
  readonly savesMemory?: boolean;
}

/** Tutti as an operator runs it on a plane: `tutti scheduler` and `tutti controller`, each as a separate process. */
export class Installation {
  readonly #plane: RealPlane;
  readonly #processes: TestProcess[] = [];
  #proxies = 0;

  constructor(plane: RealPlane) {
    this.#plane = plane;
  }

  /** Resolves when it has seen the cluster and schedules. With `through`, it reaches the server only through that proxy. */
  async startScheduler(options: ProcessOptions = {}): Promise<TestProcess> {
    const scheduler = await this.#start('scheduler', options);
    await scheduler.said(/"message":"scheduling"/);
    return scheduler;
  }

  /** Starts a scheduler that waits for another to stop leading; resolves when it knows the leader. */
  async startStandby(options: ProcessOptions): Promise<TestProcess> {
    const scheduler = await this.#start('scheduler', options);
    await scheduler.said(/"message":"standing by/);
    return scheduler;
  }

  /** Resolves when it has reached the server. */
  async startController(options: ProcessOptions = {}): Promise<TestProcess> {
    const controller = await this.#start('controller', options);
    await controller.said(/"message":"API server reached"/);
    return controller;
  }

  /** Kills it as `kill -9` does. Its log is no longer checked. */
  async kill(process: TestProcess): Promise<void> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    await process.kill();
  }

  /** Resolves with its log when it has ended by itself with exit code 1. */
  async gaveUp(process: TestProcess): Promise<string> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    const { exitCode } = await process.ended();
    if (exitCode !== 1) throw new Error(`it ended with ${exitCode ?? 'no exit code'}: ${process.stderr}`);
    return process.stderr;
  }

  /** Ends a process as an operator would; resolves with its log when it has ended with exit code 0. */
  async terminate(process: TestProcess): Promise<string> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    process.signal('SIGTERM');
    const { exitCode } = await process.ended();
    if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? 'no exit code'}: ${process.stderr}`);
    return process.stderr;
  }

  /** Ends all remaining processes as an operator would. Returns a sentence for each process that failed or logged an internal error. */
  async stop(): Promise<string[]> {
    const problems = await Promise.all(
      this.#processes.splice(0).map(async (process) => {
        process.signal('SIGTERM');
        const { exitCode } = await process.ended();
        const failed = exitCode === 0 ? [] : [`ended with ${exitCode ?? 'no'} exit code`];
        return [...failed, ...faultsIn(process.stderr)];
      }),
    );
    return problems.flat();
  }

  async #start(command: 'scheduler' | 'controller', options: ProcessOptions): Promise<TestProcess> {
    const { through, election = ['--leader-elect=false'], parameters = [], savesMemory = false } = options;
    const kubeconfig = through === undefined ? this.#plane.kubeconfigPath : await this.#kubeconfigFor(through);
    const process = new TestProcess(
      [command, '--kubeconfig', kubeconfig, ...serverFlags, ...election, ...parameters],
      // The first line of the program has these flags.
      savesMemory ? { program: [tuttiPath()] } : {},
    );
    this.#processes.push(process);
    return process;
  }

  /** Writes a kubeconfig without credentials, which the proxy adds. The file is removed with the plane. */
  async #kubeconfigFor({ endpoint }: ApiProxy): Promise<string> {
    const path = join(this.#plane.folder, `proxy-${++this.#proxies}-${new URL(endpoint.server).port}.kubeconfig`);
    const kubeconfig = {
      clusters: [{ name: 'proxy', cluster: { server: endpoint.server } }],
      users: [{ name: 'anonymous', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'anonymous' } }],
      'current-context': 'proxy',
    };
    await writeFile(path, JSON.stringify(kubeconfig));
    return path;
  }
}

/** Returns log lines about errors of Tutti itself, independent of the plane. */
function faultsIn(log: string): string[] {
  const isError = (line: string): boolean =>
    line.includes('"level":"error"') && !line.includes('cannot reach the API server');
  return log.split('\n').filter((line) => isError(line) || line.includes('"kind":"handler"'));
}
