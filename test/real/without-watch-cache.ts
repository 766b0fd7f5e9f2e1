import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRealPlane } from '../planes/real/real-plane.ts';
import type { RealPlane, RealPlaneOptions } from '../planes/real/real-plane.ts';

/**
 * Opens a plane whose API server reads every watch from etcd, so that its history can be removed; a normal API server keeps some in memory.
 * This API server cannot be restarted.
 */
export async function openPlaneWithoutWatchCache(options: RealPlaneOptions): Promise<RealPlane> {
  const { paths } = options;
  const folder = await mkdtemp(join(tmpdir(), 'tutti-api-server-'));
  try {
    const script = join(folder, 'kube-apiserver');
    await writeFile(script, `#!/bin/sh\nexec '${paths['kube-apiserver']}' "$@" --watch-cache=false\n`, { mode: 0o700 });
    return await openRealPlane({ ...options, paths: { ...paths, 'kube-apiserver': script } });
  } finally {
    await rm(folder, { recursive: true });
  }
}
