import { plainNode } from '../checks/plain-objects.ts';
import {
  bindCompleted,
  claimManifest,
  claimsPath,
  classManifest,
  classesPath,
  selectedNode,
  volumeManifest,
  volumesPath,
} from './manifests.ts';
import { share } from './mix.ts';
import type { Plane } from './plane.ts';
import type { Committed } from './record.ts';
import type { Timeline } from './timeline.ts';

/** Simulates what creates volumes: a CSI driver and the controller that binds claims. A volume can be used in one zone only. */
export class Disks {
  readonly #plane: Plane;
  readonly #timeline: Timeline;
  readonly #seed: number;

  constructor(options: { readonly plane: Plane; readonly timeline: Timeline; readonly seed: number }) {
    this.#plane = options.plane;
    this.#timeline = options.timeline;
    this.#seed = options.seed;
    this.#plane.subscribe((committed) => this.#changed(committed));
  }

  async open(): Promise<void> {
    await this.#plane.ask('POST', classesPath, classManifest());
  }

  /** Creates the claim of a pod if it does not exist: with a volume in the zone, or without one. */
  claim(name: string, volume: string): void {
    if (this.#plane.record.get('persistentvolumeclaims', `default/${name}`) !== undefined) return;
    if (volume === 'late') {
      this.#plane.send('POST', claimsPath, claimManifest(name));
      return;
    }
    this.#plane.send('POST', volumesPath, volumeManifest(`of-${name}`, name, volume));
    this.#plane.send('POST', claimsPath, claimManifest(name, `of-${name}`));
    this.#plane.send('PATCH', `${claimsPath}/${name}/status`, { status: { phase: 'Bound' } });
  }

  #changed({ resource, type, object, previous }: Committed): void {
    if (resource !== 'persistentvolumeclaims' || type === 'DELETED') return;
    const node = nodeOf(object);
    if (node === undefined || node === (previous && nodeOf(previous))) return;
    const { name } = (object as any).metadata;
    const inMs = 100 + 1_400 * share(this.#seed, 41, this.#timeline.count);
    this.#timeline.after(inMs, () => this.#provision(name, node));
  }

  #provision(name: string, node: string): void {
    const { record } = this.#plane;
    const claim: any = record.get('persistentvolumeclaims', `default/${name}`);
    if (claim === undefined || claim.spec.volumeName !== undefined || nodeOf(claim) !== node) return;
    const path = `${claimsPath}/${name}`;
    const zone = zoneOf(record.get('nodes', `/${node}`));
    if (zone === undefined) {
      // The scheduler has to choose another node.
      this.#plane.send('PATCH', path, { metadata: { annotations: { [selectedNode]: null } } });
      return;
    }
    this.#plane.send('POST', volumesPath, volumeManifest(`of-${name}`, name, zone));
    this.#plane.send('PATCH', path, {
      metadata: { annotations: { [bindCompleted]: 'yes' } },
      spec: { volumeName: `of-${name}` },
    });
    this.#plane.send('PATCH', `${path}/status`, { status: { phase: 'Bound' } });
  }
}

function nodeOf(claim: any): string | undefined {
  return claim.metadata.annotations?.[selectedNode];
}

function zoneOf(node: any): string | undefined {
  return node === undefined ? undefined : plainNode(node).zone;
}
