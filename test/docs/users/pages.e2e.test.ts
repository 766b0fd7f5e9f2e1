import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../planes/embedded.ts';
import type { TestPlane } from '../../planes/plane.ts';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../../planes/real/real-plane.ts';
import { claimBlocks } from '../block-claims.ts';
import { PageCluster } from './page-cluster.ts';

const programs = await provideForSuite('the pages for users, with real controllers', [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
]);
const blocks = claimBlocks('docs/tasks/users/*.md', 'console');
const pages = [...new Set(blocks.map(({ page }) => page))];
/** Pages whose pods are created by real controllers of Kubernetes. */
const withRealControllers = pages.filter((page) =>
  /\/(job|deployment|statefulset|mistakes|native-pod-groups)\.md$/.test(page),
);

describe('DO1 pages for users on the embedded plane, with stand-ins for the operators', () => {
  play(pages, openEmbeddedPlane, false);
});

describe.skipIf(programs.state === 'missing')('DO1 pages for users on a real plane with real controllers', () => {
  play(
    withRealControllers,
    () => {
      if (programs.state === 'missing') throw new Error(programs.message);
      return openRealPlane({ paths: programs.paths, controllerManager: true, featureGates: ['GenericWorkload'] });
    },
    true,
  );
});

function play(which: readonly string[], open: () => Promise<TestPlane>, hasControllers: boolean): void {
  let cluster: PageCluster | undefined;

  beforeAll(async () => {
    cluster = await PageCluster.open(await open(), { hasControllers });
  });

  afterAll(() => cluster?.stop());

  it.concurrent.each(which)('%s shows the actual output', async (page) => {
    const ofPage = blocks.filter((block) => block.page === page);
    const { printed, expected } = await cluster!.play(ofPage, `page-${basename(page, '.md')}`);
    expect(printed).toEqual(expected);
  });
}
