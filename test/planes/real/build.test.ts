import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cachedPath, cacheFolder } from './build-cache.ts';
import { provideBinaries } from './build.ts';

let folder: string;
let builds: string;
const said: string[] = [];
const onProgress = (line: string): void => void said.push(line);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-build-'));
  builds = join(folder, 'builds');
  said.length = 0;
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  // Nothing but what a test puts there, and the shell.
  vi.stubEnv('PATH', [join(folder, 'bin'), '/bin', '/usr/bin'].join(delimiter));
  await mkdir(join(folder, 'bin'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** A Go that says it is of that version; `build` is what it does when it builds, $output being the file to write. */
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

describe('the programs of a real plane', () => {
  it('are missing without Go, with a word on what to install', async () => {
    vi.stubEnv('PATH', join(folder, 'bin'));
    expect(await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true })).toEqual({
      state: 'missing',
      reason: 'no-go',
      message: expect.stringMatching(
        /^etcd, kube-apiserver not built.*install Go 1\.26, then node .*build\.ts etcd kube-/,
      ),
    });
  });

  it('are missing with a Go that is too old, which is named', async () => {
    await installGo('go1.25.9');
    expect(await provideBinaries(['etcd'], { mayBuild: true })).toMatchObject({
      reason: 'go-too-old',
      message: expect.stringContaining('Go 1.25.9 cannot build them'),
    });
  });

  it('are not built unasked', async () => {
    await installGo('go1.26.0');
    expect(await provideBinaries(['etcd'], { mayBuild: false })).toMatchObject({
      reason: 'not-built',
      message: expect.stringContaining('node test/planes/real/build.ts etcd'),
    });
    await expect(readFile(builds)).rejects.toThrow('ENOENT');
  });

  it('are built once, however many ask at the same time, and leave nothing else in the cache', async () => {
    await installGo('go1.26.0', 'sleep 0.3; echo program > "$output"; chmod +x "$output"');
    const provisions = await Promise.all(
      [1, 2, 3].map(() => provideBinaries(['etcd'], { mayBuild: true, onProgress })),
    );
    const path = await cachedPath('etcd');
    for (const provision of provisions) expect(provision).toEqual({ state: 'ready', paths: { etcd: path } });
    expect(await buildCount()).toBe(1);
    expect(await readdir(dirname(path))).toEqual(['etcd']);
    expect(await readdir(cacheFolder())).toHaveLength(1);
    expect(said).toContain(`waiting for the build of process ${process.pid}`);
  });

  it('are taken from the cache without any Go', async () => {
    await installGo('go1.26.0');
    await provideBinaries(['etcd'], { mayBuild: true, onProgress });
    await rm(join(folder, 'bin', 'go'));
    expect(await provideBinaries(['etcd'], { mayBuild: false })).toMatchObject({ state: 'ready' });
  });

  it('carry the version that servers are asked for', async () => {
    await installGo('go1.26.0');
    await provideBinaries(['kube-apiserver'], { mayBuild: true, onProgress });
    expect(await readFile(builds, 'utf8')).toContain('-X k8s.io/component-base/version.gitVersion=v1.37.1');
  });

  it('stay missing when the build fails, and the error is what Go said', async () => {
    await installGo('go1.26.0', 'echo half > "$output"; echo "package missing: no such thing" >&2; exit 1');
    await expect(provideBinaries(['etcd'], { mayBuild: true, onProgress })).rejects.toThrow(
      'package missing: no such thing',
    );
    expect(await readdir(dirname(await cachedPath('etcd')))).toEqual([]);
  });

  it('are built although the process that held the lock has died', async () => {
    await installGo('go1.26.0');
    await mkdir(cacheFolder(), { recursive: true });
    await writeFile(join(cacheFolder(), 'build.lock'), String(2 ** 22 + 1)); // above the highest process id of Linux
    expect(await provideBinaries(['etcd'], { mayBuild: true, onProgress })).toMatchObject({ state: 'ready' });
  });
});
