import { globSync } from 'node:fs';
import type { PageBlock } from './markdown-page.ts';

/** A block that no test runs, and why not. */
export interface BlockNotRun {
  /** A path, or a pattern of paths. */
  readonly page: string;
  /** With what the block begins. */
  readonly begins: string;
  readonly reason: string;
}

/** What a block needs that is not where tests run -> how that reads. A reason that is none of these is a block to run. */
const missing = {
  registry: 'it builds an image, or needs one in a registry',
  tests: 'it is what runs the tests',
  cluster: 'it asks pods of the chart for their logs, or metrics of nodes',
} as const;

export const blocksNotRun: readonly BlockNotRun[] = [
  { page: 'README.md', begins: 'npm cit', reason: missing.tests },
  { page: 'docs/get-started.md', begins: 'docker build', reason: missing.registry },
  { page: 'charts/tutti/README.md', begins: 'helm install', reason: missing.registry },
  { page: 'docs/install.md', begins: 'docker build', reason: missing.registry },
  { page: 'docs/install.md', begins: 'helm test', reason: missing.registry },
];

export function isNotRun(block: PageBlock, list: readonly BlockNotRun[] = blocksNotRun): boolean {
  return list.some(({ page, begins }) => globSync(page).includes(block.page) && block.code.startsWith(begins));
}
