import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linkProblems } from './link-problems.ts';
import { everyPage, parsePage, readPage } from './markdown-page.ts';

describe('Pages of the repository', () => {
  const pages = everyPage();

  it('are found in all folders', () => {
    for (const page of [
      'README.md',
      'CHANGELOG.md',
      'charts/tutti/README.md',
      'docs/concepts.md',
      'docs/decisions/0012-one-core.md',
    ])
      expect(pages).toContain(page);
    expect(pages.filter((page) => page.includes('node_modules'))).toEqual([]);
  });

  it('have no broken links', () => {
    expect(pages.flatMap((page) => linkProblems(readPage(page)))).toEqual([]);
  });
});

it('docs/README.md links to every page of docs/, directly or through a linked README', () => {
  const linkedFrom = (path: string): string[] =>
    readPage(path).links.map(({ target }) => normalize(join(dirname(path), target.replace(/#.*$/, ''))));
  const named = linkedFrom('docs/README.md');
  const indexes = named.filter((path) => path.endsWith('README.md'));
  const reached = new Set(['docs/README.md', ...named, ...indexes.flatMap(linkedFrom)]);
  const isReached = (path: string): boolean => reached.has(path) || reached.has(`${dirname(path)}/`);
  expect(everyPage().filter((path) => path.startsWith('docs/') && !isReached(path))).toEqual([]);
});

describe('linkProblems', () => {
  const problemsIn = (...lines: readonly string[]): string[] =>
    linkProblems(parsePage('docs/sample.md', lines.join('\n')));

  it('reports wrong files, headings, lines, references and addresses', () => {
    expect(
      problemsIn(
        '# Sample',
        '[a](nowhere.md) [b](concepts.md#nowhere) [c](#nowhere) [d](../src/index.ts#L99999)',
        '![e](picture.png) [f][defined] [g][undefined]',
        '<a href="gone.md">h</a> [i](/README.md) [j](../../outside.md) [k](../README.md/)',
        '',
        '[l](http://kubernetes.io) [m](https://local) [n](https://) [o](//kubernetes.io) [p](mailto:user@example.com)',
        '',
        '[defined]: nowhere-either.md',
      ),
    ).toEqual([
      'docs/sample.md:2: nowhere.md: does not exist',
      'docs/sample.md:2: concepts.md#nowhere: docs/concepts.md has no such heading',
      'docs/sample.md:2: #nowhere: the page has no such heading',
      'docs/sample.md:2: ../src/index.ts#L99999: src/index.ts has no such line',
      'docs/sample.md:2: picture.png: does not exist',
      'docs/sample.md:2: nowhere-either.md: does not exist',
      'docs/sample.md:2: gone.md: does not exist',
      'docs/sample.md:2: /README.md: a path begins at the page, not at the top',
      'docs/sample.md:2: ../../outside.md: is outside of the repository',
      'docs/sample.md:2: ../README.md/: does not exist',
      'docs/sample.md:6: http://kubernetes.io: is not https',
      'docs/sample.md:6: https://local: has no public host',
      'docs/sample.md:6: https://: is not a well-formed address',
      'docs/sample.md:6: //kubernetes.io: is not a well-formed address',
      'docs/sample.md:6: mailto:user@example.com: is not https',
      'docs/sample.md:2: [g][undefined]: the reference is not defined',
    ]);
  });

  it('accepts correct links, and ignores code', () => {
    expect(
      problemsIn(
        '# One `two` & [three](concepts.md)',
        '## Again',
        '## Again',
        '[a](#one-two--three) [b](#again-1) [c](concepts.md#verdicts) [d](../src/index.ts#L3) [e](decisions/) [f][g]',
        '`[no](link.md)` and <https://kubernetes.io/docs/>',
        '',
        '    [no](link.md)',
        '',
        '```text',
        '[no](link.md) [no][reference]',
        '```',
        '[g]: https://kubernetes.io',
      ),
    ).toEqual([]);
  });
});
