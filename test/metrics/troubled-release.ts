import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProcess } from '../../src/cli/testing/test-process.ts';
import { httpsGet } from '../../src/serving/testing/https-get.ts';
import { ChartRelease } from '../chart/installed-chart.ts';
import type { PageBlock } from '../docs/markdown-page.ts';
import { PageStage } from '../docs/page-stage.ts';
import { ApiProxy } from '../planes/api-proxy.ts';
import type { TestPlane } from '../planes/plane.ts';
import { samplesIn } from './samples.ts';
import type { Sample } from './samples.ts';

type Component = 'scheduler' | 'controller';

const logsCommand = /^kubectl -n tutti-system logs -l app\.kubernetes\.io\/component=(\w+) --tail (\d+)/;

/**
 * The chart on the embedded plane, with its processes. They reach the API server through `proxy`, which can inject faults; everything else
 * reaches it directly.
 */
export class TroubledRelease {
  readonly stage: PageStage;
  readonly proxy: ApiProxy;
  readonly #release: ChartRelease;
  readonly #processes = new Map<Component, TestProcess>();

  private constructor(stage: PageStage, proxy: ApiProxy, release: ChartRelease) {
    this.stage = stage;
    this.proxy = proxy;
    this.#release = release;
  }

  /** Opens a plane with two nodes of two CPUs each, and without a release. */
  static async open(plane: TestPlane): Promise<TroubledRelease> {
    const stage = await PageStage.open(plane);
    const proxy = await ApiProxy.open(plane.transport);
    const kubeconfigPath = join(stage.folder, 'proxied.kubeconfig');
    const direct = await readFile(plane.kubeconfigPath, 'utf8');
    await writeFile(kubeconfigPath, direct.replaceAll(plane.url, proxy.endpoint.server), { mode: 0o600 });
    const { client } = plane;
    const release = new ChartRelease({ client, kubeconfigPath, folder: stage.folder }, 'tutti', 'tutti-system');
    await stage.removeDefinition();
    await stage.addNodes('node-1', 'node-2');
    return new TroubledRelease(stage, proxy, release);
  }

  async close(): Promise<void> {
    await this.#release.stop();
    await this.proxy.cut();
    await this.stage.close();
  }

  /** Allows scrapes without authorization, so that a scrape needs no Prometheus. */
  async install(values: object = {}, ...schedulerFlags: readonly string[]): Promise<void> {
    const open = '--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics';
    const { exitCode, stderr } = await this.#release.install('3.17', {
      controller: { extraArgs: [open] },
      ...values,
      scheduler: { extraArgs: [open, ...schedulerFlags] },
    });
    if (exitCode !== 0) throw new Error(stderr);
  }

  /** Starts the process, which may fail to become ready. */
  async run(component: Component): Promise<TestProcess> {
    const process = await this.#release.run(component, '3.17');
    this.#processes.set(component, process);
    return process;
  }

  async runBoth(): Promise<void> {
    const scheduler = await this.run('scheduler');
    await (await this.run('controller')).said(/"message":"API server reached"/);
    await scheduler.said(/"message":"scheduling"/);
  }

  /** Resolves when a running process has logged a line that matches. */
  async logged(component: Component, pattern: RegExp): Promise<void> {
    await this.#processes.get(component)!.said(pattern);
  }

  /** Returns what Prometheus would scrape; undefined: no response. */
  async scrape(component: Component): Promise<readonly Sample[] | undefined> {
    const url = /"url":"(https:[^"]+)"/.exec(this.#processes.get(component)?.stderr ?? '')?.[1];
    if (url === undefined) return undefined;
    const answer = await httpsGet(`${url}/metrics`).catch(() => undefined);
    return answer?.status === 200 ? samplesIn(answer.text) : undefined;
  }

  /** Runs the commands of a runbook; logs come from the processes, which have no pods here. */
  async diagnose(blocks: readonly PageBlock[]): Promise<void> {
    for (const [component, { stderr }] of this.#processes) {
      await writeFile(join(this.stage.folder, `${component}.log`), stderr);
    }
    await this.stage.play(blocks, (command) => command.replace(logsCommand, 'tail -n $2 $1.log'));
  }
}
