import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageFile } from '../../base/package-files.ts';
import { loadManifests } from './load-manifests.ts';
import { ManifestError, manifestTitle } from './manifest.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-manifests-'));
});
afterEach(() => rm(folder, { recursive: true }));

const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`;

it('are read from files and folders in the order given, those of a folder by name', async () => {
  await mkdir(join(folder, 'jobs'));
  await writeFile(join(folder, 'last.yaml'), pod('last'));
  await writeFile(join(folder, 'jobs', '2.json'), '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"second"}}');
  await writeFile(join(folder, 'jobs', '1.yml'), pod('first'));
  await writeFile(join(folder, 'jobs', 'README.md'), '# not a manifest');
  const manifests = await loadManifests([join(folder, 'jobs'), join(folder, 'last.yaml')]);
  expect(manifests.map(({ object }) => object.metadata.name)).toEqual(['first', 'second', 'last']);
});

it('are rejected with all that is wrong with any of the files', async () => {
  await writeFile(join(folder, 'good.yaml'), pod('a'));
  await writeFile(join(folder, 'bad.yaml'), 'kind: Pod\nmetadata: {name: a}\n');
  const bad = join(folder, 'bad.yaml');
  const missing = join(folder, 'missing.yaml');
  const failure = await loadManifests([join(folder, 'good.yaml'), bad, missing]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ManifestError);
  expect((failure as ManifestError).problems).toEqual([
    `${bad}, document 1, line 1: apiVersion: must be a non-empty string such as v1`,
    `${missing}: there is no such file or folder`,
  ]);
});

it('are rejected when there is nothing to apply', async () => {
  await writeFile(join(folder, 'empty.yaml'), '# nothing yet\n---\n');
  await expect(loadManifests([join(folder, 'empty.yaml')])).rejects.toThrow('there are no objects in it');
  await mkdir(join(folder, 'none'));
  await expect(loadManifests([join(folder, 'none')])).rejects.toThrow('there is no .yaml, .yml or .json file');
});

it('of the example make two groups of three, their pods in turn', async () => {
  const manifests = await loadManifests([packageFile('examples', 'deadlock')]);
  expect(manifests.map(({ object }) => manifestTitle(object))).toEqual([
    'PodGroup red',
    'PodGroup blue',
    ...[0, 1, 2].flatMap((index) => [`Pod red-${index}`, `Pod blue-${index}`]),
  ]);
});
