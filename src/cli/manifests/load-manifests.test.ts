import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../base/package-files.ts';
import { loadManifests } from './load-manifests.ts';
import { ManifestError, manifestTitle } from './manifest.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-manifests-'));
});
afterEach(() => rm(folder, { recursive: true }));

const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`;

describe('loadManifests', () => {
  it('reads files and directories in the given order, and the files of a directory by name', async () => {
    await mkdir(join(folder, 'jobs'));
    await writeFile(join(folder, 'last.yaml'), pod('last'));
    await writeFile(join(folder, 'jobs', '2.json'), '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"second"}}');
    await writeFile(join(folder, 'jobs', '1.yml'), pod('first'));
    await writeFile(join(folder, 'jobs', 'README.md'), '# not a manifest');
    const manifests = await loadManifests([join(folder, 'jobs'), join(folder, 'last.yaml')]);
    expect(manifests.map(({ object }) => object.metadata.name)).toEqual(['first', 'second', 'last']);
  });

  it('reports every problem of every file', async () => {
    await writeFile(join(folder, 'good.yaml'), pod('a'));
    await writeFile(join(folder, 'bad.yaml'), 'kind: Pod\nmetadata: {name: a}\n');
    const bad = join(folder, 'bad.yaml');
    const missing = join(folder, 'missing.yaml');
    const failure = await loadManifests([join(folder, 'good.yaml'), bad, missing]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ManifestError);
    expect((failure as ManifestError).problems).toEqual([
      `${bad}, document 1, line 1: apiVersion: must be a non-empty string such as v1`,
      `${missing}: no such file or directory`,
    ]);
  });

  it('rejects files and directories without objects', async () => {
    await writeFile(join(folder, 'empty.yaml'), '# nothing yet\n---\n');
    await expect(loadManifests([join(folder, 'empty.yaml')])).rejects.toThrow('no objects found');
    await mkdir(join(folder, 'none'));
    await expect(loadManifests([join(folder, 'none')])).rejects.toThrow(
      'this directory has no .yaml, .yml or .json file',
    );
  });

  it('reads the example as two groups of three pods, interleaved', async () => {
    const manifests = await loadManifests([packageFile('examples', 'deadlock')]);
    expect(manifests.map(({ object }) => manifestTitle(object))).toEqual([
      'PodGroup red',
      'PodGroup blue',
      ...[0, 1, 2].flatMap((index) => [`Pod red-${index}`, `Pod blue-${index}`]),
    ]);
  });
});
