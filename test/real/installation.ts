import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';

/** What the two commands have in common here; no limit of calls, so that what is waited for is not the limit. */
const serverFlags = ['--secure-port', '0', '--kube-api-qps', '0', '--log-format', 'json'];

export interface ProcessOptions {
  readonly through?: ApiProxy;
  /** Flags about the leader election. Default: none is held. */
  readonly election?: readonly string[];
}

/** Tutti as an operator runs it on a plane: `tutti scheduler` and `tutti controller`, each a process of the system. */
export class Installation {
  readonly #plane: RealPlane;
  readonly #processes: TestProcess[] = [];
  #proxies = 0;

  constructor(plane: RealPlane) {
    this.#plane = plane;
  }

  /** Resolves when it has seen the cluster and schedules. `through` makes it reach the server only by that way. */
  async startScheduler(options: ProcessOptions = {}): Promise<TestProcess> {
    const scheduler = await this.#start('scheduler', options);
    await scheduler.said(/"message":"scheduling"/);
    return scheduler;
  }

  /** One that waits for another to stop leading: resolves when it knows that. */
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

  /** As `kill -9` does. What it logged is not looked at any more. */
  async kill(process: TestProcess): Promise<void> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    await process.kill();
  }

  /** Resolves with its log when it has ended by itself, with exit code 1. */
  async gaveUp(process: TestProcess): Promise<string> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    const { exitCode } = await process.ended();
    if (exitCode !== 1) throw new Error(`it ended with ${exitCode ?? 'no exit code'}: ${process.stderr}`);
    return process.stderr;
  }

  /** Ends one as an operator would, and answers its log when it has ended well. */
  async terminate(process: TestProcess): Promise<string> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    process.signal('SIGTERM');
    const { exitCode } = await process.ended();
    if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? 'no exit code'}: ${process.stderr}`);
    return process.stderr;
  }

  /** Ends what still runs as an operator would. A sentence for each process that failed, or said that it has a fault. */
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
    const { through, election = ['--leader-elect=false'] } = options;
    const kubeconfig = through === undefined ? this.#plane.kubeconfigPath : await this.#kubeconfigFor(through);
    const process = new TestProcess([command, '--kubeconfig', kubeconfig, ...serverFlags, ...election]);
    this.#processes.push(process);
    return process;
  }

  /** The proxy adds the credentials. The file goes with the plane. */
  async #kubeconfigFor({ endpoint }: ApiProxy): Promise<string> {
    const path = join(this.#plane.folder, `proxy-${++this.#proxies}-${new URL(endpoint.server).port}.kubeconfig`);
    const kubeconfig = {
      clusters: [{ name: 'proxy', cluster: { server: endpoint.server } }],
      users: [{ name: 'nobody', user: {} }],
      contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'nobody' } }],
      'current-context': 'proxy',
    };
    await writeFile(path, JSON.stringify(kubeconfig));
    return path;
  }
}

/** Lines about an error of Tutti's own, whatever the plane did. */
function faultsIn(log: string): string[] {
  return log.split('\n').filter((line) => line.includes('"level":"error"') || line.includes('"kind":"handler"'));
}
