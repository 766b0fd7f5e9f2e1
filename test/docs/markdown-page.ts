import { globSync, readFileSync } from 'node:fs';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';

/** A fenced block of code. */
export interface PageBlock {
  /** Path of its page, relative to the repository. */
  readonly page: string;
  /** Line of its fence, from 1. */
  readonly line: number;
  /** First word after the fence; may be empty. */
  readonly language: string;
  /** Ends with a line break; without the indentation of a list. */
  readonly code: string;
  /** Headings above it, the nearest last. */
  readonly headings: readonly string[];
  /** File that the line above links to with its path in backticks: the block is this file or part of it. */
  readonly file: string | undefined;
}

export interface PageLink {
  readonly target: string;
  readonly line: number;
}

export interface MarkdownPage {
  /** Path relative to the repository. */
  readonly path: string;
  /** Valid anchors, as GitHub derives them from headings. */
  readonly anchors: ReadonlySet<string>;
  /** Links and images, including references and HTML. */
  readonly links: readonly PageLink[];
  /** `[text][name]` whose name is not defined. */
  readonly undefinedReferences: readonly PageLink[];
  readonly blocks: readonly PageBlock[];
}

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];

const parser = new MarkdownIt({ html: true });
const linkInHtml = /\b(?:href|src)="([^"]*)"/g;
const reference = /\[[^[\]]+\]\[([^[\]]*)\]/g;
const fileLink = /\[`([^`]+)`\]\([^)]*\):?$/;
const folders = ['node_modules', 'dist', 'coverage'];

/** Returns the paths of all Markdown pages, relative to the repository, sorted. */
export function everyPage(): string[] {
  return globSync('**/*.md', { exclude: (name) => folders.includes(name) || /^\.[^/]/.test(name) }).sort();
}

export function readPage(path: string): MarkdownPage {
  return parsePage(path, readFileSync(path, 'utf8'));
}

export function parsePage(path: string, text: string): MarkdownPage {
  const tokens = parser.parse(text, {});
  const lines = text.split('\n');
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  const links: PageLink[] = [];
  const undefinedReferences: PageLink[] = [];
  const blocks: PageBlock[] = [];
  const headings: { readonly level: number; readonly text: string }[] = [];
  /** First line of the current block, from 0; inline tokens have no line. */
  let start = 0;
  for (const [index, token] of tokens.entries()) {
    start = token.map?.[0] ?? start;
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1));
      const heading = textOf(tokens[index + 1]!);
      while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
      headings.push({ level, text: heading });
      anchors.add(slugger.slug(heading));
    } else if (token.type === 'fence') {
      blocks.push({
        page: path,
        line: start + 1,
        language: token.info.trim().split(/\s+/)[0]!,
        code: token.content,
        headings: headings.map((heading) => heading.text),
        file: fileLink.exec(lineAbove(lines, start))?.[1],
      });
    }
    for (const part of [token, ...(token.children ?? [])]) {
      for (const target of targetsOf(part)) links.push({ target, line: start + 1 });
      if (part.type !== 'text') continue;
      for (const [target] of part.content.matchAll(reference)) undefinedReferences.push({ target, line: start + 1 });
    }
  }
  return { path, anchors, links, undefinedReferences, blocks };
}

function targetsOf(token: Token): string[] {
  if (token.type === 'html_block' || token.type === 'html_inline')
    return [...token.content.matchAll(linkInHtml)].map(([, target]) => target!);
  const target = token.attrGet('href') ?? token.attrGet('src');
  return target === null ? [] : [decodeURI(String(target))];
}

/** Returns the text of links and code without markup, as GitHub uses it for the anchor. */
function textOf({ children }: Token): string {
  return (children ?? [])
    .map(({ type, content }) => (type === 'text' || type === 'code_inline' ? content : ''))
    .join('');
}

/** Returns the last non-empty line before the index. */
function lineAbove(lines: readonly string[], index: number): string {
  return (
    lines
      .slice(0, index)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}
