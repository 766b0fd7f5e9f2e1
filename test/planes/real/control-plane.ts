import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { systemClock } from '../../../src/base/system-clock.ts';
import { KubeClient } from '../../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts';
import { HttpTransport } from '../../../src/client/http/http-transport.ts';
import { auditPolicy } from './api-audit.ts';
import type { ApiServerFeatures } from './program-arguments.ts';
import {
  apiServerArguments,
  apiServerCertificate,
  auditFiles,
  egressSelectorPath,
  etcdArguments,
} from './program-arguments.ts';
import { machineProxy } from './node/machine.ts';
import { freePorts } from './ports.ts';
import type { ProcessGroup } from './process-group.ts';
import { PortTakenError, untilReady } from './until-ready.ts';

/** Number of attempts; each uses new ports in case another process takes one first. */
const attempts = 3;
const readyWithinMs = 120_000;

export interface ControlPlaneOptions extends ApiServerFeatures {
  /** program -> path */
  readonly paths: { readonly etcd: string; readonly 'kube-apiserver': string };
  /** Starts with a copy of what another plane's `stop` left in etcd; absent: empty. */
  readonly etcdData?: string;
}

/** etcd and kube-apiserver, as processes of one group. */
export class ControlPlane {
  readonly kubeconfigPath: string;
  readonly #group: ProcessGroup;
  readonly #options: ControlPlaneOptions;
  /** Returns the arguments of the API server at its address. */
  #apiServerArguments: (features: ApiServerFeatures) => readonly string[] = () => [];

  private constructor(group: ProcessGroup, options: ControlPlaneOptions) {
    this.#group = group;
    this.#options = options;
    this.kubeconfigPath = join(group.folder, 'kubeconfig');
  }

  /** Resolves when the API server is ready; rejects with the last output of a program. */
  static async start(group: ProcessGroup, options: ControlPlaneOptions): Promise<ControlPlane> {
    const plane = new ControlPlane(group, options);
    const token = await writeCredentials(group.folder);
    if (options.node === true) {
      await writeFile(egressSelectorPath(group.folder), JSON.stringify(egressSelector(machineProxy(group.folder))));
    }
    if (options.audited === true) await writeFile(auditFiles(group.folder).policy, JSON.stringify(auditPolicy));
    if (options.etcdData !== undefined) await cp(options.etcdData, plane.#etcdFolder, { recursive: true });
    for (let attempt = 1; ; attempt++) {
      try {
        await plane.#start(token);
        return plane;
      } catch (error) {
        if (!(error instanceof PortTakenError) || attempt === attempts) throw error;
        await group.kill('kube-apiserver');
        await group.kill('etcd');
      }
    }
  }

  /** Simulates a failure of its machine: connections break, and new ones are refused until `startApiServer`. */
  async stopApiServer(): Promise<void> {
    await this.#group.kill('kube-apiserver');
  }

  /** Restarts it at the same address with everything that was stored. Resolves when it is ready. */
  async startApiServer(features: ApiServerFeatures = {}): Promise<void> {
    await this.#startApiServer(features);
    await this.#apiServerReady();
  }

  /** Stops the plane gracefully, so that all data is on disk. Resolves with etcd's folder, from which another plane can start. */
  async stop(): Promise<string> {
    await this.#group.kill('kube-apiserver');
    await this.#group.kill('etcd', 'SIGTERM');
    return this.#etcdFolder;
  }

  /** As in `etcdArguments`. */
  get #etcdFolder(): string {
    return join(this.#group.folder, 'etcd');
  }

  async #start(token: string): Promise<void> {
    const { folder } = this.#group;
    const ports = await freePorts(3);
    const [clientUrl, peerUrl] = ports.map((port) => `http://127.0.0.1:${port}`);
    await this.#group.start(
      'etcd',
      this.#options.paths.etcd,
      etcdArguments(folder, { clientUrl: clientUrl!, peerUrl: peerUrl! }),
    );
    await untilReady(this.#group, 'etcd', readyWithinMs, async () => (await fetch(`${clientUrl}/readyz`)).ok);
    const port = ports[2]!;
    this.#apiServerArguments = (features) => apiServerArguments(folder, port, clientUrl!, features);
    await this.#startApiServer();
    // The API server signs its own certificate.
    const certificates = apiServerCertificate(folder);
    await untilReady(this.#group, 'kube-apiserver', readyWithinMs, async () => {
      const authority = await readFile(certificates);
      if (!authority.toString().trimEnd().endsWith('-----END CERTIFICATE-----')) return false;
      const kubeconfig = kubeconfigFor(`https://127.0.0.1:${port}`, authority.toString('base64'), token);
      await writeFile(this.kubeconfigPath, kubeconfig, { mode: 0o600 });
      return true;
    });
    await this.#apiServerReady();
  }

  async #startApiServer(features: ApiServerFeatures = {}): Promise<void> {
    const args = this.#apiServerArguments({ ...this.#options, ...features });
    await this.#group.start('kube-apiserver', this.#options.paths['kube-apiserver'], args);
  }

  async #apiServerReady(): Promise<void> {
    const endpoint = await loadKubeconfig({ clock: systemClock, path: this.kubeconfigPath });
    const transport = new HttpTransport({ endpoint });
    const client = new KubeClient({ transport, clock: systemClock, userAgent: 'tutti-tests' });
    try {
      await untilReady(this.#group, 'kube-apiserver', readyWithinMs, async () => {
        const { text } = await client.call({ method: 'GET', path: '/readyz', headers: {} }, { timeoutMs: 5_000 });
        return text === 'ok';
      });
    } finally {
      await transport.close();
    }
  }
}

/** Writes the keys of service accounts and the token of one administrator, and returns the token. */
async function writeCredentials(folder: string): Promise<string> {
  const keys = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const token = randomBytes(16).toString('hex');
  await writeFile(join(folder, 'service-accounts.key'), keys.privateKey);
  await writeFile(join(folder, 'service-accounts.pub'), keys.publicKey);
  await writeFile(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  return token;
}

/** Returns a configuration that reaches nodes through the socket of a proxy. */
function egressSelector(proxy: string): object {
  const transport = { uds: { udsName: proxy } };
  return {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport } }],
  };
}

function kubeconfigFor(server: string, authority: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'admin', namespace: 'default' } }],
    'current-context': 'real',
  });
}
