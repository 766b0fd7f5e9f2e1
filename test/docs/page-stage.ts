import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { expect } from 'vitest';
import { packageFile } from '../../src/base/package-files.ts';
import { tuttiPath } from '../../src/cli/testing/test-process.ts';
import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { NotFoundError } from '../../src/client/api-errors.ts';
import { ChartRelease } from '../chart/installed-chart.ts';
import { helmPath, kubectlPath } from '../planes/kubectl.ts';
import type { TestPlane } from '../planes/plane.ts';
import { poll } from '../planes/poll.ts';
import { addNodes } from '../planes/real/add-nodes.ts';
import { consoleCommandsOf, outputsOf, transcriptsOf } from './console-blocks.ts';
import type { PageBlock } from './markdown-page.ts';
import { hangsMs } from '../planes/patience.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Runs the commands of a page: on a cluster, in a folder that looks like a checkout, with the real kubectl and helm and this tutti on the
 * PATH. Tests run the processes of the chart's pods through `release`, because the cluster has no nodes.
 */
export class PageStage {
  readonly plane: TestPlane;
  readonly folder: string;
  readonly #withKwok: boolean;
  readonly #releases: ChartRelease[] = [];

  private constructor(plane: TestPlane, folder: string, withKwok: boolean) {
    this.plane = plane;
    this.folder = folder;
    this.#withKwok = withKwok;
  }

  /** Opens a stage on that plane and closes both together. */
  static async open(plane: TestPlane, { kwok = false } = {}): Promise<PageStage> {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-page-'));
    for (const part of ['charts', 'crds', 'deploy', 'docs', 'test'])
      await symlink(packageFile(part), join(folder, part));
    await mkdir(join(folder, 'bin'));
    const program = `#!/bin/sh\nexec '${process.execPath}' '${tuttiPath()}' "$@"\n`;
    for (const name of ['tutti', 'kubectl-tutti']) {
      await writeFile(join(folder, 'bin', name), program);
      await chmod(join(folder, 'bin', name), 0o755);
    }
    return new PageStage(plane, folder, kwok);
  }

  async close(): Promise<void> {
    for (const release of this.#releases) await release.stop();
    await this.plane.stop();
    await rm(this.folder, { recursive: true });
  }

  /** Returns the release of that name, which the page installs. */
  release(name = 'tutti', namespace = 'tutti-system'): ChartRelease {
    const release = new ChartRelease({ ...this.plane, folder: this.folder }, name, namespace);
    this.#releases.push(release);
    return release;
  }

  /**
   * Runs the commands of the blocks in one shell and expects the output of the page. `instead` replaces a command that the plane cannot run
   * by one with the same effect and output.
   */
  async play(blocks: readonly PageBlock[], instead: (command: string) => string = (command) => command): Promise<void> {
    const commands = consoleCommandsOf(blocks);
    const outputs = await this.#outputsOf(commands.map(({ command }) => instead(command)));
    const { printed, expected } = transcriptsOf(commands, outputs);
    expect(printed.join('\n')).toBe(expected.join('\n'));
  }

  /** Writes the blocks whose first line is a comment with a file name. */
  async write(blocks: readonly PageBlock[]): Promise<void> {
    for (const { code, page, line } of blocks) {
      const [, name] = /^# (\S+\.yaml)\n/.exec(code) ?? [];
      if (name === undefined) throw new Error(`${page}:${line} does not begin with the name of a file`);
      await writeFile(join(this.folder, name), code);
    }
  }

  /** Returns the output of a command. */
  async run(command: string): Promise<string> {
    return (await this.#outputsOf([command]))[0] ?? '';
  }

  async #outputsOf(commands: readonly string[]): Promise<readonly string[]> {
    const programs = [join(this.folder, 'bin'), dirname(await kubectlPath()), dirname(await helmPath('3.17'))];
    const environment = {
      HOME: this.folder,
      KUBECONFIG: this.plane.kubeconfigPath,
      PATH: [...programs, process.env.PATH ?? ''].join(delimiter),
    };
    const all = commands.map((command) => ({ command, output: '' }));
    return outputsOf(all, environment, this.folder);
  }

  /** Deletes the PodGroup CRD, which planes have from the start. */
  async removeDefinition(): Promise<void> {
    const path = `${definitions}/podgroups.scheduling.x-k8s.io`;
    const isGone = (error: unknown): undefined => {
      if (!(error instanceof NotFoundError)) throw error;
      return undefined;
    };
    await this.plane.client.delete(path).catch(isGone);
    await poll(() => this.plane.client.get(path).then(() => 'it still exists', isGone), 'the CRD is gone');
  }

  /** Adds nodes with two CPUs each. */
  async addNodes(...names: readonly string[]): Promise<void> {
    const specs = names.map((name) => ({ name, allocatable: { cpu: '2', memory: '4Gi' } }));
    await addNodes(this.plane.client, specs, { kwok: this.#withKwok });
  }

  /** Creates a group and its members; with `nodeName`, they are already bound to it. */
  async createGang(
    name: string,
    size: number,
    { cpu = '500m', schedulerName = 'tutti', nodeName, minMember = size }: GangOptions = {},
  ): Promise<void> {
    await this.plane.client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name },
      spec: { minMember },
    });
    for (let index = 0; index < size; index++) {
      await this.plane.client.create('/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `${name}-${index}`, labels: { [podGroupLabel]: name } },
        spec: {
          schedulerName,
          ...(nodeName !== undefined && { nodeName }),
          containers: [{ name: 'main', image: 'train:1', resources: { requests: { cpu } } }],
        },
      });
    }
  }

  /** Resolves when that many members of the group are bound. */
  async bound(group: string, count: number): Promise<void> {
    const missing = async (): Promise<string | undefined> => {
      const { items } = await this.plane.client.list('/api/v1/namespaces/default/pods', {
        labelSelector: `${podGroupLabel}=${group}`,
      });
      const found = (items as { spec: { nodeName?: string } }[]).filter(({ spec }) => spec.nodeName !== undefined);
      return found.length === count ? undefined : `${found.length} are`;
    };
    await poll(missing, `${count} members of ${group} are bound`, hangsMs);
  }

  /** Resolves when the output of a command matches. */
  async prints(command: string, expected: RegExp, withinMs = hangsMs): Promise<void> {
    const missing = async (): Promise<string | undefined> => {
      const printed = await this.run(command);
      return expected.test(printed) ? undefined : printed;
    };
    await poll(missing, `${command} prints ${String(expected)}`, withinMs);
  }
}

interface GangOptions {
  readonly cpu?: string;
  readonly schedulerName?: string;
  readonly nodeName?: string;
  /** Default: all. */
  readonly minMember?: number;
}
