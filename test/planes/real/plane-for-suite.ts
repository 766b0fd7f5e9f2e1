import { afterAll, beforeAll } from 'vitest';
import type { Provision } from './build.ts';
import { openRealPlane } from './real-plane.ts';
import type { RealPlane, RealPlaneOptions } from './real-plane.ts';

/**
 * Opens a plane before the tests of the current block and stops it after them; returns a function that hooks and tests get it from. Call it
 * first in the block, which `describe.skipIf` skips if programs are missing: the block's own hooks then run while the plane does.
 */
export function planeForSuite(
  programs: Provision<'etcd' | 'kube-apiserver'>,
  options: Omit<RealPlaneOptions, 'paths'> = {},
  open: (options: RealPlaneOptions) => Promise<RealPlane> = openRealPlane,
): () => RealPlane {
  let plane: RealPlane | undefined;
  beforeAll(async () => {
    if (programs.state === 'ready') plane = await open({ ...options, paths: programs.paths });
  });
  afterAll(async () => {
    await plane?.stop();
  });
  return () => {
    if (plane === undefined) throw new Error('the plane is not open: it opens in beforeAll');
    return plane;
  };
}
