import { podGroupPath, podGroupResource } from '../../src/api/pod-group.ts';
import type { PodGroupSpec } from '../../src/api/pod-group.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import { podManifest } from '../scenarios/pod-manifest.ts';
import type { PodSpec } from '../scenarios/pod-manifest.ts';
import type { Stage } from '../scenarios/stage.ts';
import { openTenantIn } from './tenant.ts';
import type { Tenant } from './tenant.ts';

/** A user with rights in the stage's namespace only. The API server authorizes every call. */
export class TenantOnStage {
  readonly #tenant: Tenant;

  private constructor(tenant: Tenant) {
    this.#tenant = tenant;
  }

  static async open(plane: RealPlane, stage: Stage): Promise<TenantOnStage> {
    const tenant = await openTenantIn(plane, stage.namespace);
    stage.atEnd(() => tenant.close());
    return new TenantOnStage(tenant);
  }

  get namespace(): string {
    return this.#tenant.namespace;
  }

  async createGroup(name: string, spec: PodGroupSpec): Promise<{ readonly metadata: { readonly uid: string } }> {
    const { apiVersion, kind } = podGroupResource;
    return this.#tenant.client.create(podGroupPath(this.#tenant.namespace), {
      apiVersion,
      kind,
      metadata: { name },
      spec,
    });
  }

  /** Returns the pod's key. */
  async createPod(name: string, spec: PodSpec): Promise<string> {
    await this.#tenant.client.create(this.#pods, podManifest(name, this.#tenant.namespace, spec));
    return `${this.#tenant.namespace}/${name}`;
  }

  async deletePod(key: string): Promise<void> {
    await this.#tenant.client.delete(`${this.#pods}/${key.split('/')[1]}`, { gracePeriodSeconds: 0 });
  }

  /** Tries to bind a pod. */
  async bind(key: string, node: string): Promise<void> {
    const name = key.split('/')[1];
    await this.#tenant.client.create(`${this.#pods}/${name}/binding`, {
      metadata: { name },
      target: { kind: 'Node', name: node },
    });
  }

  /** Tries to write the status of a group. */
  async patchGroupStatus(name: string, status: object): Promise<void> {
    await this.#tenant.client.patch(`${podGroupPath(this.#tenant.namespace, name)}/status`, 'merge', { status });
  }

  get #pods(): string {
    return `/api/v1/namespaces/${this.#tenant.namespace}/pods`;
  }
}
