import { podPath } from '../../../src/api/pod-path.ts';
import type { KubeClient } from '../../../src/client/kube-client.ts';
import { podManifest } from '../../scenarios/pod-manifest.ts';
import { atOnce } from '../at-once.ts';

const schedulerName = 'another';
const app = 'taken-by-another';

/** A scheduler that takes all free capacity for its own pods, and frees it on request. */
export class OtherScheduler {
  readonly #client: KubeClient;
  readonly #namespace: string;
  #made = 0;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** `free`: node name -> cores; no other pod may take them in the meantime. */
  async takeCapacity(free: ReadonlyMap<string, number>): Promise<void> {
    const wanted = [...free].filter(([, cores]) => cores > 0);
    await atOnce(wanted, ([node, cpu]) => this.#place(node, cpu));
  }

  async giveBack(): Promise<void> {
    const selector = new URLSearchParams({ labelSelector: `app=${app}` });
    const path = `/api/v1/namespaces/${this.#namespace}/pods?${selector.toString()}`;
    await this.#client.delete(path, { gracePeriodSeconds: 0 });
  }

  async #place(node: string, cpu: number): Promise<void> {
    const name = `other-${++this.#made}`;
    const pod = podManifest(name, this.#namespace, { cpu, schedulerName }) as { readonly metadata: object };
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { app } } };
    await this.#client.create(`/api/v1/namespaces/${this.#namespace}/pods`, labelled);
    await this.#client.create(`${podPath({ namespace: this.#namespace, name })}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace: this.#namespace },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    });
  }
}
