import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { writeBuildBase, writeRuntimeBase } from './base-images.ts';

const run = promisify(execFile);
const output = { maxBuffer: 64 * 1024 * 1024 };

/** The fields of an image configuration that tests read. */
export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** The image of the Dockerfile, on base images made of this machine's files. */
export class BuiltImage {
  /** Image name for pods. */
  readonly reference: string;
  /** Path of an archive in the format of `docker save`. */
  readonly archive: string;
  /** Folder of its files. */
  readonly root: string;
  readonly config: ImageConfig;
  /** Size of its files in bytes, as registry clients see it. */
  readonly size: number;
  readonly #folder: string;

  private constructor(folder: string, reference: string, config: ImageConfig, size: number) {
    this.#folder = folder;
    this.reference = reference;
    this.archive = archiveIn(folder);
    this.root = join(folder, 'root');
    this.config = config;
    this.size = size;
  }

  /**
   * Builds the image without network: npm finds the packages of the lockfile in its cache, which `npm ci` has filled. Takes a minute or
   * two. Rejects with the last output of the build.
   */
  static async build(reference: string): Promise<BuiltImage> {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-image-'));
    try {
      await mkdir(join(folder, 'storage'));
      await writeRuntimeBase(join(folder, 'runtime-base'));
      await writeBuildBase(join(folder, 'build-base'));
      const { stdout: npmCache } = await run('npm', ['config', 'get', 'cache']);
      const { stdout: registry } = await run('npm', ['config', 'get', 'registry']);
      await addBase(folder, 'runtime-base');
      await addBase(folder, 'build-base', {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: '/root',
        npm_config_offline: 'true',
        npm_config_registry: registry.trim(),
        npm_config_update_notifier: 'false',
      });
      await buildah(folder, [
        ...['bud', '--pull-never', '--layers=false', '--network=none', '--isolation=oci'],
        // Files written there are gone after the build.
        ...['--volume', `${npmCache.trim()}:/root/.npm:O`],
        ...['--build-arg', 'BUILD_BASE=localhost/build-base', '--build-arg', 'BASE=localhost/runtime-base'],
        ...['--tag', 'localhost/built', '.'],
      ]);
      const archive = archiveIn(folder);
      await buildah(folder, ['push', 'localhost/built', `docker-archive:${archive}:docker.io/library/${reference}`]);
      const config = await unpack(archive, folder);
      return new BuiltImage(folder, reference, config, (await stat(archive)).size);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Runs it with these arguments, as its own user, on its read-only files. It uses this machine's network, and `shared` is mounted
   * read-only at /tmp. `program`: what to run instead of the entry point.
   */
  run(args: readonly string[], shared: string, program: readonly string[] = this.config.Entrypoint): TestProcess {
    const { User, Env } = this.config;
    const script = `
      mount --bind "$0" "$0" && mount --bind "$1" "$0/tmp" && mount -o remount,bind,ro "$0/tmp" && mount -o remount,bind,ro "$0"
      shift && exec "$@"`;
    const asItsUser = ['setpriv', '--no-new-privs', 'env', '--ignore-environment', ...Env];
    const inRoot = [...asItsUser, 'chroot', `--userspec=${User}`, '--groups=', this.root, ...program];
    return new TestProcess(args, {
      program: ['unshare', '--mount', 'sh', '-c', script, this.root, shared, ...inRoot],
    });
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function archiveIn(folder: string): string {
  return join(folder, 'image.tar');
}

async function addBase(
  folder: string,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const file = join(folder, `${name}.Dockerfile`);
  const variables = Object.entries(environment).map(([variable, value]) => `ENV ${variable}=${value}`);
  await writeFile(file, ['FROM scratch', 'COPY . /', ...variables, ''].join('\n'));
  await buildah(folder, ['bud', '--tag', `localhost/${name}`, '--file', file, join(folder, name)]);
  await rm(join(folder, name), { recursive: true });
}

/** Runs buildah in separate namespaces, so that no process or mount outlives it. */
async function buildah(folder: string, args: readonly string[]): Promise<void> {
  const overlay = (await readFile('/proc/filesystems', 'utf8')).includes('overlay');
  const storage = join(folder, 'storage');
  const own = ['--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
  const stores = [
    `--root=${storage}/root`,
    `--runroot=${storage}/run`,
    `--storage-driver=${overlay ? 'overlay' : 'vfs'}`,
  ];
  await run('unshare', [...own, 'buildah', ...stores, ...args], output).catch((error: unknown) => {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    const output = `${stdout}${stderr}`.trim().split('\n').slice(-20).join('\n');
    const advice = output.includes('ENOTCACHED')
      ? '\nnpm’s cache lacks packages of the lockfile: `npm ci` fills it'
      : '';
    throw new Error(`buildah ${args[0]} failed:\n${output}${advice}`);
  });
}

/** Unpacks all layers in order into `root`. */
async function unpack(archive: string, folder: string): Promise<ImageConfig> {
  const parts = join(folder, 'parts');
  const root = join(folder, 'root');
  await mkdir(parts);
  await mkdir(root);
  await run('tar', ['-xf', archive, '-C', parts]);
  const [manifest] = JSON.parse(await readFile(join(parts, 'manifest.json'), 'utf8')) as [
    { readonly Config: string; readonly Layers: readonly string[] },
  ];
  for (const layer of manifest.Layers) await run('tar', ['-xpf', join(parts, layer), '-C', root]);
  const { config } = JSON.parse(await readFile(join(parts, manifest.Config), 'utf8')) as {
    readonly config: ImageConfig;
  };
  await rm(parts, { recursive: true });
  return config;
}
