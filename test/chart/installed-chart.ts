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

/** A release of the chart on a plane, installed by one of the two Helm versions. */
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

  /** Runs `helm test`, on planes with a node. */
  test(version: HelmVersion, ...flags: readonly string[]): Promise<HelmOutcome> {
    return this.#helm(version, ['test', this.name, ...flags]);
  }

  uninstall(version: HelmVersion): Promise<HelmOutcome> {
    return this.#helm(version, ['uninstall', this.name, '--wait']);
  }

  /** Returns the objects that Helm reports as installed. */
  async manifests(version: HelmVersion): Promise<readonly ChartObject[]> {
    const { exitCode, stdout, stderr } = await this.#helm(version, ['get', 'manifest', this.name]);
    if (exitCode !== 0) throw new Error(stderr);
    return objectsIn(stdout);
  }

  /** Returns the objects that `helm test` creates. */
  async hooks(version: HelmVersion): Promise<readonly ChartObject[]> {
    const { exitCode, stdout, stderr } = await this.#helm(version, ['get', 'hooks', this.name]);
    if (exitCode !== 0) throw new Error(stderr);
    return objectsIn(stdout);
  }

  /**
   * Runs a component locally with the arguments, the configuration and the permissions of its pod: a token of its ServiceAccount. It uses
   * free ports, because several components run on this machine.
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

  /** Runs a command with the permissions of a ServiceAccount in the release's namespace. */
  async start(args: readonly string[], serviceAccount: string): Promise<TestProcess> {
    const kubeconfig = await kubeconfigOf(this.#plane, this.namespace, serviceAccount);
    const process = new TestProcess(args, { environment: { KUBECONFIG: kubeconfig } });
    this.#processes.push(process);
    return process;
  }

  /** Ends all processes; returns the log lines about requests that the API server rejected. */
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

/** Replaces the address and the port of a pod by local ones. */
function outside(args: readonly string[], port: number): readonly string[] {
  const others = args.filter((arg) => !/^--(bind-address|secure-port)=/.test(arg));
  return [...others, '--bind-address=127.0.0.1', `--secure-port=${port}`];
}
