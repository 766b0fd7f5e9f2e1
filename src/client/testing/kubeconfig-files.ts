import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { loadKubeconfig } from '../kubeconfig.ts';
import type { KubeconfigEndpoint } from '../kubeconfig.ts';

export interface KubeconfigParts {
  readonly server?: string;
  readonly cluster?: object;
  readonly user?: object;
  readonly name?: string;
}

/** A folder for kubeconfigs and their files, and the clock of the endpoints. */
export class KubeconfigFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  readonly clock = new VirtualClock();

  /** Writes a file and returns its path. */
  write(name: string, content: unknown): string {
    const path = join(this.folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  load(path: string): Promise<KubeconfigEndpoint> {
    return loadKubeconfig({ clock: this.clock, path });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Returns a kubeconfig with one cluster, user and context. */
export function kubeconfig({
  server = 'https://10.0.0.1:6443',
  cluster = {},
  user = {},
  name = 'main',
}: KubeconfigParts = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
}
