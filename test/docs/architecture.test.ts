import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { IConfiguration } from 'dependency-cruiser';
import { describe, expect, it } from 'vitest';
import { everyPage } from './markdown-page.ts';
import { layersInTable, pageProblems, unknownClasses } from './page-problems.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const importRule = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as IConfiguration;
const page = 'docs/architecture.md';
const text = await readFile(`${root}${page}`, 'utf8');

describe('pageProblems and unknownClasses', () => {
  it('find wrong paths, links and names', async () => {
    const wrong = [
      'A file that was moved: `src/queue/queue.ts`; a folder that is gone: `src/embedded/nodes/`; a file is `src/index.ts/`.',
      'A placeholder in a folder that is gone: `src/extensions/<name>/`.',
      '`SchedulingCycle` (`src/scheduler/scheduler-core.ts`), `Cluster.openNode` (`src/cluster/cluster.ts`)',
    ].join('\n');
    expect(await pageProblems(root, wrong)).toEqual([
      'src/queue/queue.ts does not exist',
      'src/embedded/nodes/ does not exist',
      'src/index.ts/ does not exist',
      'src/extensions/ does not exist',
      'src/scheduler/scheduler-core.ts does not export SchedulingCycle',
      'src/cluster/cluster.ts has no Cluster.openNode',
    ]);
    expect(await unknownClasses(root, '```\nSchedulerCore ─► SchedulerHeart\n```\n')).toEqual(['SchedulerHeart']);
  });

  it('accept a correct page', async () => {
    const right = [
      '`src/queue/scheduling-queue.ts`, `src/queue/`, `src/plugins/<name>/`',
      '`SchedulerCore` (`src/scheduler/scheduler-core.ts`), `Cluster.openPod` (`src/cluster/cluster.ts`)',
    ].join('\n');
    expect(await pageProblems(root, right)).toEqual([]);
    expect(layersInTable('| layer | what |\n| --- | --- |\n| `base/` | … |\n| `api/` | … |\n')).toEqual([
      'base',
      'api',
    ]);
  });
});

describe('docs/architecture.md', () => {
  it('names existing paths and exports', async () => {
    expect(await pageProblems(root, text)).toEqual([]);
  });

  it('draws only existing classes', async () => {
    expect(await unknownClasses(root, text)).toEqual([]);
  });

  it('lists every folder of src/ in the order of the import rule', async () => {
    const entries = await readdir(`${root}src`, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const layers = importRule.forbidden!.flatMap(({ name }) => /^layer-(?!unknown)(.+)/.exec(name ?? '')?.[1] ?? []);
    expect(layersInTable(text)).toEqual(layers);
    expect(layersInTable(text).sort()).toEqual(folders.sort());
  });
});

it.each(everyPage().filter((path) => !path.startsWith('docs/decisions/')))('%s names existing paths', async (path) => {
  expect(await pageProblems(root, await readFile(`${root}${path}`, 'utf8'))).toEqual([]);
});
