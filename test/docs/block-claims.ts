import { globSync, readFileSync } from 'node:fs';
import { everyPage, readPage } from './markdown-page.ts';
import type { PageBlock } from './markdown-page.ts';

/**
 * A test covers every block of every page in one of these ways; `test/docs/blocks.test.ts` fails for a block that is not covered.
 *
 * 1. A test claims it. The test gets its blocks from `claimBlocks`, with a literal page and language, and with the text of a heading when
 *    another test claims those under other headings:
 *
 *        const blocks = claimBlocks('docs/endpoints.md', 'console');
 *        const commands = consoleCommandsOf(blocks);
 *
 *    The call is the claim: the check finds it in the text of the test files. A test that claims blocks runs all of them and compares their
 *    output. The page may be a pattern (`docs/learn/*.md`).
 * 2. The line above it links to the file that it is part of, with the path in backticks. The file must then contain the block as whole lines.
 *    A test applies each manifest under `examples/` (`test/examples/manifests.test.ts`).
 * 3. It is in the list of `blocks-not-run.ts`, with a reason. This list is short.
 *
 * JSON blocks are always parsed. A block without a language is a drawing and is not checked.
 */

/** language of a fence -> its meaning */
export const blockLanguages = {
  console: 'lines that begin with `$ ` are commands; the lines after one are its output',
  sh: 'commands whose output does not matter',
  yaml: 'a manifest, a configuration or values',
  json: 'output or input of a program',
  ts: 'a plugin or a program',
  text: 'output of a program',
  '': 'a drawing',
} as const satisfies Readonly<Record<string, string>>;

export type ClaimedLanguage = Exclude<keyof typeof blockLanguages, '' | 'json'>;

export interface BlockClaim {
  /** The test file. */
  readonly test: string;
  /** A path, or a pattern of paths. */
  readonly page: string;
  readonly language: string;
  /** A heading above the blocks, at any depth. Absent: the whole page. */
  readonly heading?: string | undefined;
}

/** Returns the blocks that the calling test runs, in order. Throws when there are none. */
export function claimBlocks(page: string, language: ClaimedLanguage, heading?: string): readonly PageBlock[] {
  const claim = { test: '', page, language, heading };
  const blocks = globSync(page)
    .sort()
    .flatMap((path) => readPage(path).blocks);
  const claimed = blocks.filter((block) => isClaimed(block, claim));
  if (claimed.length === 0) throw new Error(`no blocks match ${claimText(claim)}`);
  return claimed;
}

export function isClaimed(block: PageBlock, { page, language, heading }: Omit<BlockClaim, 'test'>): boolean {
  if (block.language !== language || !globSync(page).includes(block.page)) return false;
  return heading === undefined || block.headings.includes(heading);
}

const claimCall = /\bclaimBlocks\(\s*'([^']+)',\s*'(\w+)'(?:,\s*(?:'([^']+)'|"([^"]+)"))?,?\s*\)/g;
/** All calls outside comments. */
const anyCall = /\bclaimBlocks\(/g;

/** Returns the claims of all test files. Throws for a call without literals, which the check could not find. */
export function everyClaim(): readonly BlockClaim[] {
  return globSync('{test,src,bench}/**/*.test.ts').flatMap((test) => claimsIn(test, readFileSync(test, 'utf8')));
}

export function claimsIn(test: string, text: string): readonly BlockClaim[] {
  const claims = [...text.matchAll(claimCall)].map(([, page, language, single, double]) => ({
    ...{ test, page: page!, language: language! },
    heading: single ?? double,
  }));
  if (claims.length !== [...text.matchAll(anyCall)].length)
    throw new Error(`${test} calls claimBlocks with something other than literals`);
  return claims;
}

export function everyBlock(): readonly PageBlock[] {
  return everyPage().flatMap((path) => readPage(path).blocks);
}

export function claimText({ page, language, heading }: Omit<BlockClaim, 'test'>): string {
  return `${language} in ${page}${heading === undefined ? '' : ` under ${JSON.stringify(heading)}`}`;
}
