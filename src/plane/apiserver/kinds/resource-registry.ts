import type { ResourceType } from './resource-type.ts';

/** One API group, with its versions in the order in which its CRDs list them. Clients prefer the first. */
export interface ApiGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string; readonly resources: readonly ResourceType[] }[];
}

/**
 * The groups of Kubernetes in the order in which kube-apiserver lists them; groups of custom resources follow, by name. kubectl takes a
 * plural that several groups have, such as podgroups, from the first of them.
 */
const groupOrder = [
  ...['', 'apps', 'events.k8s.io', 'batch', 'policy', 'storage.k8s.io', 'apiextensions.k8s.io', 'scheduling.k8s.io'],
  'coordination.k8s.io',
];

/** The resources that the server currently serves. */
export class ResourceRegistry {
  /** group/version/plural -> resource */
  readonly #resources = new Map<string, ResourceType>();

  constructor(builtIn: readonly ResourceType[]) {
    for (const type of builtIn) this.#resources.set(registryKey(type.group, type.version, type.plural), type);
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#resources.get(registryKey(group, version, plural));
  }

  /** Returns whether the server serves any resource of that group and version. */
  serves(group: string, version: string): boolean {
    for (const type of this.#resources.values()) if (type.group === group && type.version === version) return true;
    return false;
  }

  /** Returns the resource that the server itself uses to change a collection: the first one that is served. */
  findByStorage(storage: string): ResourceType | undefined {
    for (const type of this.#resources.values()) if (type.storage === storage) return type;
    return undefined;
  }

  /** Replaces all resources that are stored as `storage` with these. */
  replace(storage: string, types: readonly ResourceType[]): void {
    for (const [key, type] of this.#resources) if (type.storage === storage) this.#resources.delete(key);
    for (const type of types) this.#resources.set(registryKey(type.group, type.version, type.plural), type);
  }

  /** Returns the groups, in the order in which discovery lists them. */
  groups(): ApiGroup[] {
    /** group -> version -> resources */
    const groups = new Map<string, Map<string, ResourceType[]>>();
    for (const type of this.#resources.values()) {
      const versions = groups.get(type.group) ?? new Map<string, ResourceType[]>();
      groups.set(type.group, versions);
      const resources = versions.get(type.version);
      if (resources === undefined) versions.set(type.version, [type]);
      else resources.push(type);
    }
    const sorted = [...groups].sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
    return sorted.map(([name, versions]) => ({
      name,
      versions: [...versions].map(([version, resources]) => ({ version, resources })),
    }));
  }
}

function rankOf(group: string): number {
  const index = groupOrder.indexOf(group);
  return index < 0 ? groupOrder.length : index;
}

function registryKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
