import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';

/** What the two commands have in common here; no limit of calls, so that what is waited for is not the limit. */
const serverFlags = ['--secure-port', '0', '--kube-api-qps', '0', '--log-format', 'json'];

/** Tutti as an operator runs it on a plane: `tutti scheduler` and `tutti controller`, each a process of the system. */
export class Installation {
  readonly #plane: RealPlane;
  readonly #processes: TestProcess[] = [];
  #proxies = 0;

  constructor(plane: RealPlane) {
    this.#plane = plane;
  }

  /** Resolves when it has seen the cluster and schedules. `through` makes it reach the server only by that way. */
  async startScheduler({ through }: { readonly through?: ApiProxy } = {}): Promise<TestProcess> {
    const scheduler = await this.#start('scheduler', through);
    await scheduler.said(/"message":"scheduling"/);
    return scheduler;
  }

  /** Resolves when it has reached the server. */
  async startController({ through }: { readonly through?: ApiProxy } = {}): Promise<TestProcess> {
    const controller = await this.#start('controller', through);
    await controller.said(/"message":"API server reached"/);
    return controller;
  }

  /** As `kill -9` does. What it logged is not looked at any more. */
  async kill(process: TestProcess): Promise<void> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    await process.kill();
  }

  /** Ends what still runs as an operator would. A sentence for each process that failed, or said that it has a fault. */
  async stop(): Promise<string[]> {
    const problems = await Promise.all(
      this.#processes.splice(0).map(async (process) => {
        process.signal('SIGTERM');
        const { exitCode, tookAfterSignalMs } = await process.ended();
        const slow = tookAfterSignalMs > 5_000 ? [`took ${Math.round(tookAfterSignalMs)} ms to end`] : [];
        const failed = exitCode === 0 ? [] : [`ended with ${exitCode ?? 'no'} exit code`];
        return [...slow, ...failed, ...faultsIn(process.stderr)];
      }),
    );
    return problems.flat();
  }

  async #start(command: 'scheduler' | 'controller', through: ApiProxy | undefined): Promise<TestProcess> {
    const kubeconfig = through === undefined ? this.#plane.kubeconfigPath : await this.#kubeconfigFor(through);
    const process = new TestProcess([command, '--kubeconfig', kubeconfig, ...serverFlags]);
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
