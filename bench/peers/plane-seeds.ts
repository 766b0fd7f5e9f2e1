import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ProcessGroup } from '../../test/planes/real/process-group.ts';
import { BenchPlane } from './bench-plane.ts';
import type { PlaneBinaries } from './bench-plane.ts';
import { benchSchedulerName } from './contenders/contender.ts';
import { LoadProcess } from './load/load-process.ts';
import type { Seed } from './load/load-protocol.ts';

/**
 * Initial etcd data, created once for each kind of seed, because creating thousands of objects takes longer than many runs. Each run still
 * has its own etcd and kube-apiserver, with a copy of the data.
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

  /** Opens an unused plane with these initial objects. The first one for a kind of seed takes longer. */
  async openPlane({ nodes, nodeCpu, victims, groups }: Seed): Promise<BenchPlane> {
    const seed: Seed = {
      nodes,
      nodeCpu,
      groups: victims === undefined || victims.gangSize === 1 ? 'none' : groups,
      ...(victims !== undefined && { victims }),
    };
    const name = JSON.stringify(seed);
    const folder = this.#folders.get(name) ?? (await this.#make(seed));
    this.#folders.set(name, folder);
    return BenchPlane.open(this.#paths, folder);
  }

  async #make(seed: Seed): Promise<string> {
    const plane = await BenchPlane.open(this.#paths);
    try {
      const load = new LoadProcess();
      try {
        await load.ask({ kind: 'seed', target: plane.target, schedulerName: benchSchedulerName, ...seed });
      } finally {
        await load.close();
      }
      const folder = join(this.#group.folder, `seed-${this.#folders.size}`);
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
