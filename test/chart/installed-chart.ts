import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { chartFolder, helm } from '../planes/helm.ts';
import type { HelmOutcome } from '../planes/helm.ts';
import type { HelmVersion } from '../planes/kubectl.ts';
import { freePorts } from '../planes/real/ports.ts';
import { kubeconfigOf } from '../planes/real/service-accounts.ts';
import type { PlaneWithFolder } from '../planes/real/service-accounts.ts';
import { schedulerFile, deployment, objectsIn } from './rendered-chart.ts';
import type { ChartObject } from './rendered-chart.ts';

/** A release of the chart on a plane, by one line of Helm or the other. */
export class ChartRelease {
  readonly name: string;
  readonly namespace: string;
  readonly #plane: PlaneWithFolder;
  readonly #processes: TestProcess[] = [];

  constructor(plane: PlaneWithFolder, name: string, namespace: string) {
    this.#plane = plane;
    this.name = name;
    this.namespace = namespace;
  }

  install(version: HelmVersion, values: object = {}, ...flags: readonly string[]): Promise<HelmOutcome> {
    return this.#helm(version, ['install', this.name, chartFolder, '--create-namespace', ...flags], values);
  }

  upgrade(version: HelmVersion, values: object = {}, ...flags: readonly string[]): Promise<HelmOutcome> {
    return this.#helm(version, ['upgrade', this.name, chartFolder, ...flags], values);
  }

  rollback(version: HelmVersion, revision: number, ...flags: readonly string[]): Promise<HelmOutcome> {
    return this.#helm(version, ['rollback', this.name, String(revision), ...flags]);
  }

  /** `helm test`: where there is a node to run it. */
  test(version: HelmVersion, ...flags: readonly string[]): Promise<HelmOutcome> {
    return this.#helm(version, ['test', this.name, ...flags]);
  }

  uninstall(version: HelmVersion): Promise<HelmOutcome> {
    return this.#helm(version, ['uninstall', this.name, '--wait']);
  }

  /** What Helm says that it has installed. */
  async manifests(version: HelmVersion): Promise<readonly ChartObject[]> {
    const { exitCode, stdout, stderr } = await this.#helm(version, ['get', 'manifest', this.name]);
    if (exitCode !== 0) throw new Error(stderr);
    return objectsIn(stdout);
  }

  /** The objects that `helm test` makes. */
  async hooks(version: HelmVersion): Promise<readonly ChartObject[]> {
    const { exitCode, stdout, stderr } = await this.#helm(version, ['get', 'hooks', this.name]);
    if (exitCode !== 0) throw new Error(stderr);
    return objectsIn(stdout);
  }

  /**
   * Runs a component here with the arguments, the configuration and the rights that it has as a pod: a token of its ServiceAccount.
   * Its ports are free ones, since several run here.
   */
  async run(component: 'scheduler' | 'controller', version: HelmVersion): Promise<TestProcess> {
    const objects = await this.manifests(version);
    const { template } = deployment(objects, component).spec;
    const file = join(this.#plane.folder, `${this.namespace}-${this.name}-scheduler.yaml`);
    if (component === 'scheduler') await writeFile(file, schedulerFile(objects));
    const given = template.spec.containers[0]!.args;
    const args = given.map((arg) => arg.replace('/etc/tutti/config/scheduler.yaml', file));
    const [port] = await freePorts(1);
    return this.start(outside(args, port!), template.spec.serviceAccountName);
  }

  /** Runs a command with the rights of a ServiceAccount of the release's namespace. */
  async start(args: readonly string[], serviceAccount: string): Promise<TestProcess> {
    const kubeconfig = await kubeconfigOf(this.#plane, this.namespace, serviceAccount);
    const process = new TestProcess(args, { environment: { KUBECONFIG: kubeconfig } });
    this.#processes.push(process);
    return process;
  }

  /** Ends what runs; answers what the API server refused to any of it. */
  async stop(): Promise<readonly string[]> {
    const logs = await Promise.all(
      this.#processes.splice(0).map(async (process) => {
        process.signal('SIGTERM');
        await process.ended();
        return process.stderr;
      }),
    );
    return logs.flatMap((log) => log.split('\n')).filter((line) => /forbidden|Forbidden|\b403\b/.test(line));
  }

  #helm(version: HelmVersion, args: readonly string[], values?: object): Promise<HelmOutcome> {
    const { kubeconfigPath: kubeconfig } = this.#plane;
    const all = [...args, '--namespace', this.namespace];
    return helm(all, { version, kubeconfig, ...(values !== undefined && { values }) });
  }
}

/** Addresses of a pod are not this machine's, and its port is one of many here. */
function outside(args: readonly string[], port: number): readonly string[] {
  const others = args.filter((arg) => !/^--(bind-address|secure-port)=/.test(arg));
  return [...others, '--bind-address=127.0.0.1', `--secure-port=${port}`];
}
