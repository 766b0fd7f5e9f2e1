import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The same programs, but the API server reads every watch from etcd, whose history can be taken away. It keeps some in its
 * own memory otherwise.
 */
export async function withoutWatchCache<Paths extends { readonly 'kube-apiserver': string }>(
  paths: Paths,
): Promise<Paths> {
  const script = join(await mkdtemp(join(tmpdir(), 'tutti-api-server-')), 'kube-apiserver');
  await writeFile(script, `#!/bin/sh\nexec '${paths['kube-apiserver']}' "$@" --watch-cache=false\n`);
  await chmod(script, 0o700);
  return { ...paths, 'kube-apiserver': script };
}
