import { globSync, readFileSync } from 'node:fs';
import { everyPage, readPage } from './markdown-page.ts';
import type { PageBlock } from './markdown-page.ts';

/**
 * Every block of every page is held by a test, in one of these ways; `test/docs/blocks.test.ts` fails for a block that is not.
 *
 * 1. A test claims it. The test takes its blocks from `claimBlocks`, with a literal page and language, and with the text of a
 *    heading when another test has those under other headings:
 *
 *        const blocks = claimBlocks('docs/endpoints.md', 'console');
 *        const commands = consoleCommandsOf(blocks);
 *
 *    The call is the claim: it is looked for in the text of the test files. Whoever claims blocks runs all of them, and
 *    compares what they say. The page may be a pattern (`docs/learn/*.md`).
 * 2. The line above it is a link to the file that it is, or is a part of, with its path in backticks. What stands in the block
 *    then stands in that file, as whole lines; a manifest under `examples/` is played (`test/examples/manifests.test.ts`).
 * 3. It is on the list of `blocks-not-run.ts`, with the reason. This list is short.
 *
 * JSON is parsed wherever it stands. A block without a language is a picture, which is not held to anything.
 */

/** What may stand behind a fence -> what it is. */
export const blockLanguages = {
  console: 'lines that begin with `$ ` are commands; what follows one is what it prints',
  sh: 'commands whose output does not matter',
  yaml: 'a manifest, a configuration, values',
  json: 'what a machine says or reads',
  ts: 'a plugin or a program',
  text: 'what a program says',
  '': 'a picture',
} as const satisfies Readonly<Record<string, string>>;

export type ClaimedLanguage = Exclude<keyof typeof blockLanguages, '' | 'json'>;

export interface BlockClaim {
  /** The test file. */
  readonly test: string;
  /** A path, or a pattern of paths. */
  readonly page: string;
  readonly language: string;
  /** One that the blocks stand under, at any depth. Absent: all of the page. */
  readonly heading?: string | undefined;
}

/** The blocks that the calling test runs, in order. Throws when there are none. */
export function claimBlocks(page: string, language: ClaimedLanguage, heading?: string): readonly PageBlock[] {
  const claim = { test: '', page, language, heading };
  const blocks = globSync(page)
    .sort()
    .flatMap((path) => readPage(path).blocks);
  const claimed = blocks.filter((block) => isClaimed(block, claim));
  if (claimed.length === 0) throw new Error(`there are no blocks for ${claimText(claim)}`);
  return claimed;
}

export function isClaimed(block: PageBlock, { page, language, heading }: Omit<BlockClaim, 'test'>): boolean {
  if (block.language !== language || !globSync(page).includes(block.page)) return false;
  return heading === undefined || block.headings.includes(heading);
}

const claimCall = /\bclaimBlocks\(\s*'([^']+)',\s*'(\w+)'(?:,\s*(?:'([^']+)'|"([^"]+)"))?,?\s*\)/g;
/** Elsewhere than in a comment. */
const anyCall = /\bclaimBlocks\(/g;

/** What test files claim. Throws for a call that is not made of literals, which nobody could find. */
export function everyClaim(): readonly BlockClaim[] {
  return globSync('{test,src,bench}/**/*.test.ts').flatMap((test) => claimsIn(test, readFileSync(test, 'utf8')));
}

export function claimsIn(test: string, text: string): readonly BlockClaim[] {
  const claims = [...text.matchAll(claimCall)].map(([, page, language, single, double]) => ({
    ...{ test, page: page!, language: language! },
    heading: single ?? double,
  }));
  if (claims.length !== [...text.matchAll(anyCall)].length)
    throw new Error(`${test} calls claimBlocks with something else than literals`);
  return claims;
}

export function everyBlock(): readonly PageBlock[] {
  return everyPage().flatMap((path) => readPage(path).blocks);
}

export function claimText({ page, language, heading }: Omit<BlockClaim, 'test'>): string {
  return `${language} in ${page}${heading === undefined ? '' : ` under ${JSON.stringify(heading)}`}`;
}
