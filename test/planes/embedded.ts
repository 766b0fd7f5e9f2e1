import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/system-clock.ts';
import { localKubeconfig } from '../../src/client/local-kubeconfig.ts';
import { EmbeddedApiServer } from '../../src/plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../../src/plane/apiserver/listen-http.ts';
import { connectPlane } from './connect-plane.ts';
import type { TestPlane } from './plane.ts';

/** Starts the embedded API server in this process, over HTTP on a free port. Takes a tenth of a second. */
export async function openEmbeddedPlane(): Promise<TestPlane> {
  const server = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
  const listener = await listenHttp(server, 0);
  const folder = await mkdtemp(join(tmpdir(), 'tutti-plane-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  await writeFile(kubeconfigPath, localKubeconfig(listener.url), { mode: 0o600 });
  return connectPlane({
    name: 'embedded',
    kubeconfigPath,
    stop: async () => {
      server.close();
      await listener.close();
      await rm(folder, { recursive: true, force: true });
    },
  });
}
