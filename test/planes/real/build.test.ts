import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cachedPath, cacheFolder } from './build-cache.ts';
import { provideBinaries } from './build.ts';

let folder: string;
let builds: string;
const progress: string[] = [];
const onProgress = (line: string): void => void progress.push(line);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-build-'));
  builds = join(folder, 'builds');
  progress.length = 0;
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  // Only what a test puts there, and the shell.
  vi.stubEnv('PATH', [join(folder, 'bin'), '/bin', '/usr/bin'].join(delimiter));
  await mkdir(join(folder, 'bin'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** Installs a fake Go of that version. `build` is its build script; it writes to $output. */
async function installGo(version: string, build = 'echo program > "$output"; chmod +x "$output"'): Promise<void> {
  const script = `#!/bin/sh
if [ "$1" = env ]; then echo ${version}; exit 0; fi
echo "$PWD $*" >> ${builds}
while [ "$1" != -o ]; do shift; done
output=$2
${build}
`;
  await writeFile(join(folder, 'bin', 'go'), script, { mode: 0o755 });
}

async function buildCount(): Promise<number> {
  return (await readFile(builds, 'utf8')).trim().split('\n').length;
}

describe('provideBinaries', () => {
  it('reports missing programs without Go, with a hint what to install', async () => {
    vi.stubEnv('PATH', join(folder, 'bin'));
    expect(await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true })).toEqual({
      state: 'missing',
      reason: 'no-go',
      message: expect.stringMatching(
        /^etcd, kube-apiserver not built.*install Go 1\.26, then node .*build\.ts etcd kube-/,
      ),
    });
  });

  it('reports a Go that is too old, with its version', async () => {
    await installGo('go1.25.9');
    expect(await provideBinaries(['etcd'], { mayBuild: true })).toMatchObject({
      reason: 'go-too-old',
      message: expect.stringContaining('Go 1.25.9 cannot build them'),
    });
  });

  it('does not build without permission', async () => {
    await installGo('go1.26.0');
    expect(await provideBinaries(['etcd'], { mayBuild: false })).toMatchObject({
      reason: 'not-built',
      message: expect.stringContaining('node test/planes/real/build.ts etcd'),
    });
    await expect(readFile(builds)).rejects.toThrow('ENOENT');
  });

  it('builds once for concurrent callers, and leaves nothing else in the cache', async () => {
    await installGo('go1.26.0', 'sleep 0.3; echo program > "$output"; chmod +x "$output"');
    const provisions = await Promise.all(
      [1, 2, 3].map(() => provideBinaries(['etcd'], { mayBuild: true, onProgress })),
    );
    const path = await cachedPath('etcd');
    for (const provision of provisions) expect(provision).toEqual({ state: 'ready', paths: { etcd: path } });
    expect(await buildCount()).toBe(1);
    expect(await readdir(dirname(path))).toEqual(['etcd']);
    expect(await readdir(cacheFolder())).toHaveLength(1);
    expect(progress).toContain(`waiting for the build of process ${process.pid}`);
  });

  it('uses the cache without Go', async () => {
    await installGo('go1.26.0');
    await provideBinaries(['etcd'], { mayBuild: true, onProgress });
    await rm(join(folder, 'bin', 'go'));
    expect(await provideBinaries(['etcd'], { mayBuild: false })).toMatchObject({ state: 'ready' });
  });

  it('sets the version that servers report', async () => {
    await installGo('go1.26.0');
    await provideBinaries(['kube-apiserver'], { mayBuild: true, onProgress });
    expect(await readFile(builds, 'utf8')).toContain('-X k8s.io/component-base/version.gitVersion=v1.37.1');
  });

  it('rejects with the output of Go when the build fails, and caches nothing', async () => {
    await installGo('go1.26.0', 'echo half > "$output"; echo "package missing: no such thing" >&2; exit 1');
    await expect(provideBinaries(['etcd'], { mayBuild: true, onProgress })).rejects.toThrow(
      'package missing: no such thing',
    );
    expect(await readdir(dirname(await cachedPath('etcd')))).toEqual([]);
  });

  it('builds although the process that held the lock has died', async () => {
    await installGo('go1.26.0');
    await mkdir(cacheFolder(), { recursive: true });
    await writeFile(join(cacheFolder(), 'build.lock'), String(2 ** 22 + 1)); // above the highest process id of Linux
    expect(await provideBinaries(['etcd'], { mayBuild: true, onProgress })).toMatchObject({ state: 'ready' });
  });
});
