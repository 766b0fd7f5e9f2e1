import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { blockLanguages, claimBlocks, claimsIn, claimText, everyBlock, everyClaim, isClaimed } from './block-claims.ts';
import { blocksNotRun, isNotRun } from './blocks-not-run.ts';
import { consoleCommandsOf, masked } from './console-blocks.ts';
import { parsePage } from './markdown-page.ts';
import type { PageBlock } from './markdown-page.ts';

const blocks = everyBlock();
const claims = everyClaim();

const where = ({ page, line, language }: PageBlock): string => `${page}:${line} (${language})`;

/** Reports whether the file contains the lines, possibly indented as a whole. */
function isPartOf(code: string, file: string): boolean {
  const lines = file.split('\n');
  const wanted = code.trimEnd().split('\n');
  return lines.some((_, start) => {
    const indent = /^ */.exec(lines[start]!)![0].length - /^ */.exec(wanted[0]!)![0].length;
    if (indent < 0) return false;
    return wanted.every((line, index) => lines[start + index] === (line === '' ? '' : ' '.repeat(indent) + line));
  });
}

/** Returns why no test covers the block; undefined when one does. */
function problemOf(block: PageBlock): string | undefined {
  const { language, code, file } = block;
  if (language === '') return undefined;
  if (language === 'json') {
    try {
      JSON.parse(code);
      return undefined;
    } catch (error) {
      return `${where(block)} is not JSON: ${(error as Error).message}`;
    }
  }
  if (!Object.hasOwn(blockLanguages, language)) return `${where(block)} has an unknown language`;
  if (file !== undefined)
    return isPartOf(code, readFileSync(file, 'utf8')) ? undefined : `${where(block)} is not part of ${file}`;
  if (claims.some((claim) => isClaimed(block, claim)) || isNotRun(block)) return undefined;
  return `no test claims ${where(block)}: see test/docs/block-claims.ts`;
}

describe('Blocks of all pages', () => {
  it('are run, loaded, compared with their files, or listed as not run', () => {
    expect(blocks.length).toBeGreaterThan(50);
    expect(blocks.flatMap((block) => problemOf(block) ?? [])).toEqual([]);
  });

  it('exist for every claim and every entry of the list', () => {
    const claimless = claims.filter((claim) => !blocks.some((block) => isClaimed(block, claim)));
    expect(claimless.map((claim) => `${claim.test} claims ${claimText(claim)}`)).toEqual([]);
    const unclaimed = blocks.filter((block) => !claims.some((claim) => isClaimed(block, claim)));
    const idle = blocksNotRun.filter((entry) => !unclaimed.some((block) => isNotRun(block, [entry])));
    expect(idle).toEqual([]);
  });
});

describe('DO1 every manifest under examples/', () => {
  const tests = globSync('{test,src}/**/*.test.ts').map((test) => readFileSync(test, 'utf8'));
  const commands = claims
    .filter(({ language }) => language === 'console')
    .flatMap((claim) => consoleCommandsOf(blocks.filter((block) => isClaimed(block, claim))));

  it.each(globSync('examples/**/*.yaml').sort())('%s is applied by a test', (file) => {
    const byPage = commands.some(({ command }) => command.split(' ').includes(file));
    expect(byPage || tests.some((test) => test.includes(`'${file}'`))).toBe(true);
  });
});

describe('The block check', () => {
  const page = [
    '# A page',
    '```sh',
    'under the title',
    '```',
    '1. In a list, as [`package.json`](package.json):',
    '',
    '   ```json',
    '   {',
    '     "a": 1 }',
    '   ```',
    '',
    '## Another',
    '```console',
    '$ printf "%s\\n" a \\',
    '    b c',
    'a',
    '…',
    '$ echo created at 2026-11-22T01:40:22Z by $HOST',
    'created … tester',
    '```',
  ].join('\n');
  const inPage = parsePage('page.md', page).blocks;

  it('finds the lines, headings and files of blocks, and removes the indentation of lists', () => {
    expect(inPage.map(({ line, language, headings, file }) => ({ line, language, headings, file }))).toEqual([
      { line: 2, language: 'sh', headings: ['A page'], file: undefined },
      { line: 7, language: 'json', headings: ['A page'], file: 'package.json' },
      { line: 13, language: 'console', headings: ['A page', 'Another'], file: undefined },
    ]);
    expect(inPage[1]!.code).toBe('{\n  "a": 1 }\n');
    expect(isPartOf('b:\n  c: 1\n', 'a:\n  b:\n    c: 1\nd: 2\n')).toBe(true);
    expect(isPartOf('b:\n  c: 1\n', 'a:\n  b:\n    c: 12\n')).toBe(false);
    expect(isPartOf('  b: 1\n', 'b: 1\n')).toBe(false);
  });

  it('reports a block that no test covers', () => {
    const fence = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\`\n`;
    const unheld = parsePage(
      'page.md',
      [
        fence('json', '{"a": 1}') +
          fence('json', '{a: 1}') +
          fence('bash', 'true') +
          fence('yaml', 'a: 1') +
          fence('', '/\\'),
        '[`examples/gang/gang.yaml`](examples/gang/gang.yaml)\n',
        fence('yaml', 'spec:\n  minMember: 3') + '[`examples/gang/gang.yaml`](examples/gang/gang.yaml):\n',
        fence('yaml', 'spec:\n  minMember: 4'),
      ].join('\n'),
    ).blocks;
    expect(unheld.map((block) => problemOf(block)?.replace(/ JSON: .*/, ' JSON'))).toEqual([
      undefined,
      'page.md:4 (json) is not JSON',
      'page.md:7 (bash) has an unknown language',
      'no test claims page.md:10 (yaml): see test/docs/block-claims.ts',
      undefined,
      undefined,
      'page.md:25 (yaml) is not part of examples/gang/gang.yaml',
    ]);
  });

  it('reads claims from the text of a test, and requires literals', () => {
    const call = 'claimBlocks';
    expect(
      claimsIn('a.test.ts', `${call}('docs/a.md', 'sh');\n${call}(\n  'docs/*.md',\n  'ts',\n  "It's",\n)`),
    ).toEqual([
      { test: 'a.test.ts', page: 'docs/a.md', language: 'sh', heading: undefined },
      { test: 'a.test.ts', page: 'docs/*.md', language: 'ts', heading: "It's" },
    ]);
    expect(() => claimsIn('a.test.ts', `${call}(page, 'sh')`)).toThrow(
      'a.test.ts calls claimBlocks with something other',
    );
  });

  it('rejects a claim without blocks', () => {
    const [nowhere, nothing] = ['docs/nowhere.md', 'No such heading'];
    const claim = claimBlocks;
    expect(() => claim(nowhere, 'sh')).toThrow('no blocks match sh in docs/nowhere.md');
    expect(() => claim('README.md', 'console', nothing)).toThrow('under "No such heading"');
  });

  it('masks only values that differ between runs', () => {
    expect(masked('red    5s   3m20s 12d node-1 1.14s 300 cpu: 2')).toBe(
      'red (age) (age) (age) node-1 (age) 300 cpu: 2',
    );
    expect(masked('UID: 74469c2b-f84d-426e-a350-d4536eea4125')).toBe('UID: (uid)');
  });
});
