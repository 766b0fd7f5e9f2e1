import { execFile } from 'node:child_process';
import { symlink, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeClient } from '../../../../src/client/kube-client.ts';
import { NotFoundError } from '../../../../src/client/api-errors.ts';
import type { ProcessGroup } from '../process-group.ts';
import { untilReady } from '../until-ready.ts';
import { makeCgroups } from './cgroups.ts';
import { writeProgramImage } from './container-image.ts';
import { Machine } from './machine.ts';
import { writeNodeFiles } from './node-files.ts';
import type { NodeFiles } from './node-files.ts';

/** Programs of a node, in addition to Debian's runc and network plugins. */
export const nodePrograms = ['kubelet', 'containerd', 'containerd-shim-runc-v2', 'ctr', 'pause'] as const;
type PathOf = (program: (typeof nodePrograms)[number]) => string;

/** Name of the one node. */
export const nodeName = 'node-1';
/**
 * Image on every node for pods that only need to exist: it waits as long as its argument says (`3s`), or until SIGTERM, as an unprivileged
 * user.
 */
export const pauseImage = 'localhost/pause:1';

const addresses = { own: '10.1.0.1', apiServer: '10.0.0.1' };
const readyWithinMs = 90_000;

/** A kubelet and a containerd with real containers, on a separate machine. */
export class RealNode {
  readonly #path: PathOf;
  readonly #files: NodeFiles;
  readonly #machine: Machine;

  private constructor(path: PathOf, files: NodeFiles, machine: Machine) {
    this.#path = path;
    this.#files = files;
    this.#machine = machine;
  }

  /** Resolves when the node is Ready; rejects with the last output of a program. */
  static async start(group: ProcessGroup, path: PathOf, client: KubeClient, apiServer: URL): Promise<RealNode> {
    const files = await writeNodeFiles(group.folder, {
      ...{ sandboxImage: pauseImage, server: `https://${addresses.apiServer}`, address: addresses.own },
    });
    await makeCgroups(files.cgroup);
    const machine = await Machine.start(group, addresses, Number(apiServer.port));
    const node = new RealNode(path, files, machine);
    await node.#startContainerd(group);
    await node.importImage(await writeProgramImage(group.folder, 'pause', path('pause'), pauseImage));
    await machine.start('kubelet', path('kubelet'), [
      `--config=${files.kubeletConfig}`,
      `--kubeconfig=${files.kubeletKubeconfig}`,
      `--root-dir=${files.kubeletFolder}`,
      `--cert-dir=${join(files.kubeletFolder, 'pki')}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${addresses.own}`,
    ]);
    await untilReady(group, 'kubelet', readyWithinMs, () => isReady(client));
    return node;
  }

  /** Imports an archive in the format of `docker save`. Pods need the pull policy Never, because there is no registry. */
  async importImage(archive: string): Promise<void> {
    await this.#ctr('images', 'import', '--no-unpack', archive);
  }

  /** Returns the containers of the node, as `ctr` lists them. */
  async containers(): Promise<string> {
    return this.#ctr('containers', 'list');
  }

  async #startContainerd(group: ProcessGroup): Promise<void> {
    // containerd looks for its shim in its own folder and on the PATH.
    const programs = join(group.folder, 'node', 'programs');
    await mkdir(programs, { recursive: true });
    for (const name of ['containerd', 'containerd-shim-runc-v2'] as const) {
      await symlink(this.#path(name), join(programs, name));
    }
    await this.#machine.start('containerd', join(programs, 'containerd'), [`--config=${this.#files.containerdConfig}`]);
    await untilReady(group, 'containerd', readyWithinMs, async () => (await this.#ctr('version')) !== '');
  }

  async #ctr(...args: readonly string[]): Promise<string> {
    const [command, ...rest] = this.#machine.command;
    const all = [
      ...rest,
      this.#path('ctr'),
      '--address',
      this.#files.containerdSocket,
      '--namespace',
      'k8s.io',
      ...args,
    ];
    const { stdout } = await promisify(execFile)(command!, all);
    return stdout;
  }
}

async function isReady(client: KubeClient): Promise<boolean> {
  const node = await client.get<NodeObject>(`/api/v1/nodes/${nodeName}`).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  if (node === undefined) return false;
  const isReady = (node.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady && (node.spec.taints ?? []).length === 0;
}

interface NodeObject {
  readonly spec: { readonly taints?: readonly object[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
