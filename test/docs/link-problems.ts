import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { readPage } from './markdown-page.ts';
import type { MarkdownPage } from './markdown-page.ts';

/**
 * Returns the broken links of a page with their lines: missing files and headings, undefined references, and addresses that are malformed
 * or not https. It does not request the addresses.
 */
export function linkProblems(page: MarkdownPage): string[] {
  const where = (line: number): string => `${page.path}:${line}`;
  return [
    ...page.links.flatMap(({ target, line }) => {
      const problem = problemOf(page, target);
      return problem === undefined ? [] : [`${where(line)}: ${target}: ${problem}`];
    }),
    ...page.undefinedReferences.map(({ target, line }) => `${where(line)}: ${target}: the reference is not defined`),
  ];
}

function problemOf(page: MarkdownPage, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return addressProblem(target);
  const [path, anchor] = splitOnce(target, '#');
  if (path === '') return page.anchors.has(anchor!) ? undefined : 'the page has no such heading';
  if (path.startsWith('/')) return 'a path begins at the page, not at the top';
  const file = normalize(join(page.path, '..', path));
  if (file.startsWith('..')) return 'is outside of the repository';
  if (!existsSync(file)) return 'does not exist';
  return anchor === undefined ? undefined : anchorProblem(file, anchor);
}

function addressProblem(target: string): string | undefined {
  if (!URL.canParse(target)) return 'is not a well-formed address';
  const { protocol, hostname } = new URL(target);
  if (protocol !== 'https:') return 'is not https';
  return /^[\w-]+(\.[\w-]+)+$/.test(hostname) ? undefined : 'has no public host';
}

function anchorProblem(file: string, anchor: string): string | undefined {
  if (file.endsWith('.md')) return readPage(file).anchors.has(anchor) ? undefined : `${file} has no such heading`;
  const line = /^L(\d+)$/.exec(anchor)?.[1];
  const lines = statSync(file).isDirectory() ? 0 : readFileSync(file, 'utf8').split('\n').length - 1;
  return Number(line ?? Infinity) <= lines ? undefined : `${file} has no such line`;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
