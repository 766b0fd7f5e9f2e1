import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

/** Node.js name of an architecture -> its name in images, where they differ. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64' };

/**
 * Writes an image with one static program as its entry point, in the format of `docker save`, to `<folder>/<program>.tar`, and returns that
 * path. `tag` has the form `localhost/pause:1`.
 */
export async function writeProgramImage(folder: string, program: string, path: string, tag: string): Promise<string> {
  const parts = join(folder, `${program}-image`);
  await mkdir(parts, { recursive: true });
  await copyFile(path, join(parts, program));
  await tar(join(parts, 'layer.tar'), parts, [program]);
  const layer = await readFile(join(parts, 'layer.tar'));
  const config = {
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: { Entrypoint: [`/${program}`], User: '65532:65532' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }];
  await writeFile(join(parts, 'config.json'), JSON.stringify(config));
  await writeFile(join(parts, 'manifest.json'), JSON.stringify(manifest));
  const archive = join(folder, `${program}.tar`);
  await tar(archive, parts, ['manifest.json', 'config.json', 'layer.tar']);
  await rm(parts, { recursive: true });
  return archive;
}

async function tar(archive: string, folder: string, files: readonly string[]): Promise<void> {
  await promisify(execFile)('tar', ['--owner=0', '--group=0', '--mtime=@0', '-cf', archive, '-C', folder, ...files]);
}
