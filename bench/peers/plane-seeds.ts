import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ProcessGroup } from '../../test/planes/real/process-group.ts';
import { BenchPlane } from './bench-plane.ts';
import type { PlaneBinaries } from './bench-plane.ts';
import { LoadProcess } from './load/load-process.ts';
import type { Workload } from './workload.ts';

/**
 * Initial etcd data, created once for each node configuration, because creating thousands of nodes takes longer than many runs. Each run
 * still has its own etcd and kube-apiserver, with a copy of the data.
 */
export class PlaneSeeds {
  readonly #paths: PlaneBinaries;
  /** Contains no processes, only the folder of the seeds, which is removed however the benchmark ends. */
  readonly #group: ProcessGroup;
  /** seed name -> etcd's folder */
  readonly #folders = new Map<string, string>();

  private constructor(paths: PlaneBinaries, group: ProcessGroup) {
    this.#paths = paths;
    this.#group = group;
  }

  static async open(paths: PlaneBinaries): Promise<PlaneSeeds> {
    return new PlaneSeeds(paths, await ProcessGroup.open());
  }

  /** Opens an unused plane with the nodes of the workload. The first one for a node configuration takes longer. */
  async openPlane(workload: Workload): Promise<BenchPlane> {
    const name = `${workload.nodes}-nodes-of-${workload.nodeCpu}-cpus`;
    const folder = this.#folders.get(name) ?? (await this.#make(name, workload));
    this.#folders.set(name, folder);
    return BenchPlane.open(this.#paths, folder);
  }

  async #make(name: string, { nodes, nodeCpu }: Workload): Promise<string> {
    const plane = await BenchPlane.open(this.#paths);
    try {
      const load = new LoadProcess();
      try {
        await load.ask({ kind: 'seed', target: plane.target, nodes, nodeCpu });
      } finally {
        await load.close();
      }
      const folder = join(this.#group.folder, name);
      await rename(await plane.stop(), folder);
      return folder;
    } finally {
      await plane.close();
    }
  }

  /** Removes the seeds. */
  close(): Promise<void> {
    return this.#group.close();
  }
}
