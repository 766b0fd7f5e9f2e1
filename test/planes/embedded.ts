import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/system-clock.ts';
import { localKubeconfig } from '../../src/client/local-kubeconfig.ts';
import { EmbeddedApiServer } from '../../src/plane/apiserver/embedded-api-server.ts';
import type { EmbeddedApiServerOptions } from '../../src/plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../../src/plane/apiserver/listen-http.ts';
import { connectPlane } from './connect-plane.ts';
import type { TestPlane } from './plane.ts';

export interface EmbeddedPlane extends TestPlane {
  readonly server: EmbeddedApiServer;
}

/** Starts the embedded API server in this process, over HTTP on a free port. Takes a tenth of a second. */
export async function openEmbeddedPlane(
  options: Omit<EmbeddedApiServerOptions, 'clock' | 'random'> = {},
): Promise<EmbeddedPlane> {
  const server = new EmbeddedApiServer({ ...options, clock: systemClock, random: Math.random });
  const listener = await listenHttp(server, 0);
  const folder = await mkdtemp(join(tmpdir(), 'tutti-plane-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  await writeFile(kubeconfigPath, localKubeconfig(listener.url), { mode: 0o600 });
  const plane = await connectPlane({
    name: 'embedded',
    kubeconfigPath,
    stop: async () => {
      server.close();
      await listener.close();
      await rm(folder, { recursive: true, force: true });
    },
  });
  return { ...plane, server };
}
