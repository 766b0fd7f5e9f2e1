import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
const generators = [...scripts.generate!.matchAll(/scripts\/\S+\.ts/g)].map(([script]) => script);

test.each(generators)('DO3 the checked-in output of %s is up to date', async (script) => {
  await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toMatchObject({ stderr: '' });
});

test('DO3 every page marked as generated has a generator', async () => {
  const { stdout } = await promisify(execFile)('grep', ['-rl', '<!-- Made by ', 'docs', 'charts/tutti/README.md']);
  const makers = await Promise.all(
    stdout
      .trim()
      .split('\n')
      .map(async (page) => /<!-- Made by (\S+)/.exec(await readFile(page, 'utf8'))![1]!),
  );
  expect([...new Set(makers)].filter((maker) => !generators.includes(maker))).toEqual([]);
  expect(makers.length).toBeGreaterThan(5);
});
