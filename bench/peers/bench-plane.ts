import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { ControlPlane } from '../../test/planes/real/control-plane.ts';
import { ProcessGroup } from '../../test/planes/real/process-group.ts';
import type { LoadTarget } from './load/load-protocol.ts';

export interface PlaneBinaries {
  readonly etcd: string;
  readonly 'kube-apiserver': string;
}

/**
 * etcd and kube-apiserver for one run. Each run has its own plane, because the history in etcd, the watch caches and the heap of an earlier
 * run would slow down the next one.
 */
export class BenchPlane {
  /** Process group, which also contains the scheduler. All its processes end with the benchmark. */
  readonly group: ProcessGroup;
  readonly kubeconfigPath: string;
  readonly target: LoadTarget;
  readonly #controlPlane: ControlPlane;

  private constructor(group: ProcessGroup, controlPlane: ControlPlane, target: LoadTarget) {
    this.group = group;
    this.kubeconfigPath = controlPlane.kubeconfigPath;
    this.target = target;
    this.#controlPlane = controlPlane;
  }

  /**
   * Resolves when the API server is ready. It has no limit on requests in flight. Rejects with the last output of a program that fails.
   * `etcdData`: the folder that `stop` of another plane returned, to start with a copy of it. Absent: starts empty.
   */
  static async open(paths: PlaneBinaries, etcdData?: string): Promise<BenchPlane> {
    const group = await ProcessGroup.open();
    try {
      const controlPlane = await ControlPlane.start(group, {
        paths,
        featureGates: ['GenericWorkload'],
        unlimited: true,
        ...(etcdData !== undefined && { etcdData }),
      });
      const { kubeconfigPath } = controlPlane;
      const kubeconfig = parse(await readFile(kubeconfigPath, 'utf8')) as {
        readonly clusters: readonly [{ readonly cluster: { readonly server: string } }];
        readonly users: readonly [{ readonly user: { readonly token: string } }];
      };
      const { server } = kubeconfig.clusters[0].cluster;
      return new BenchPlane(group, controlPlane, { server, token: kubeconfig.users[0].user.token });
    } catch (error) {
      await group.close();
      throw error;
    }
  }

  /** Throws if the program has exited. */
  pidOf(program: 'etcd' | 'kube-apiserver'): number {
    const pid = this.group.pid(program);
    if (pid === undefined) throw new Error(`${program} exited: ${this.group.exit(program)}`);
    return pid;
  }

  /** Returns the text of the API server's /metrics. */
  async metrics(): Promise<string> {
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    try {
      const headers = { authorization: `Bearer ${this.target.token}` };
      const response = await request(`${this.target.server}/metrics`, { dispatcher: agent, headers });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`GET /metrics: ${response.statusCode} ${text.slice(0, 200)}`);
      return text;
    } finally {
      await agent.destroy();
    }
  }

  /** Stops etcd and the API server. Resolves to etcd's folder, which exists until `close`. */
  stop(): Promise<string> {
    return this.#controlPlane.stop();
  }

  /** Stops all processes and removes the files. */
  close(): Promise<void> {
    return this.group.close();
  }
}
