import { globSync } from 'node:fs';
import type { PageBlock } from './markdown-page.ts';

/** A block that no test runs, and the reason. */
export interface BlockNotRun {
  /** A path, or a pattern of paths. */
  readonly page: string;
  /** Beginning of the block. */
  readonly begins: string;
  readonly reason: string;
}

/** requirement that is missing where tests run -> its text. Blocks without such a requirement must run. */
const missing = {
  registry: 'it builds an image, or needs one in a registry',
  tests: 'it runs the tests',
  cluster: "it needs logs of the chart's pods, or metrics of nodes",
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
