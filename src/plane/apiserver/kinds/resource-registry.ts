import type { ResourceType } from './resource-type.ts';

/** One API group, with its versions in order of preference. */
export interface ApiGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string; readonly resources: readonly ResourceType[] }[];
}

/** The resources that the server currently serves. */
export class ResourceRegistry {
  /** group/version/plural -> resource */
  readonly #resources = new Map<string, ResourceType>();
  #revision = 0;

  constructor(builtIn: readonly ResourceType[]) {
    for (const type of builtIn) this.#resources.set(registryKey(type.group, type.version, type.plural), type);
  }

  /** Increases whenever a resource is added, changed or removed. */
  get revision(): number {
    return this.#revision;
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
    this.#revision++;
  }

  /** Returns the groups, sorted by name. The core group is first, because its name is empty. */
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
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([name, versions]) => ({
      name,
      versions: [...versions]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, resources]) => ({ version, resources })),
    }));
  }
}

function registryKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

/** Orders API versions by Kubernetes' preference: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
function compareVersions(a: string, b: string): number {
  const left = versionRank(a);
  const right = versionRank(b);
  for (const [index, rank] of left.entries()) if (rank !== right[index]) return right[index]! - rank;
  return a < b ? -1 : a > b ? 1 : 0;
}

function versionRank(version: string): [number, number, number] {
  const parsed = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!parsed) return [0, 0, 0];
  const stability = parsed[2] === undefined ? 3 : parsed[2] === 'beta' ? 2 : 1;
  return [stability, Number(parsed[1]), Number(parsed[3] ?? 0)];
}
