import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { Change } from '../../../src/plane/apiserver/store/change.ts';
import type { WatchedResource } from '../scenario.ts';

/** Resources whose versions the record keeps. */
export type RecordedResource = WatchedResource | 'persistentvolumeclaims' | 'persistentvolumes';

/** One write that the store accepted. */
export interface Committed {
  readonly at: number;
  readonly version: number;
  readonly resource: string;
  readonly type: Change['type'];
  /** namespace/name */
  readonly key: string;
  readonly uid: string;
  /** Current state; for a deletion the last state. */
  readonly object: JsonObject;
  readonly previous: JsonObject | undefined;
  /** Sender: the name of a process, or `world`. */
  readonly by: string;
}

interface Version {
  readonly version: number;
  /** Undefined: deleted at this version. */
  readonly object: JsonObject | undefined;
}

const resources: Readonly<Record<string, RecordedResource>> = {
  pods: 'pods',
  nodes: 'nodes',
  'podgroups.scheduling.x-k8s.io': 'podgroups',
  'podgroups.scheduling.k8s.io': 'nativepodgroups',
  persistentvolumeclaims: 'persistentvolumeclaims',
  persistentvolumes: 'persistentvolumes',
};

/** The committed history of the store; everything that checkers know comes from it. */
export class StoreRecord {
  readonly changes: Committed[] = [];
  /** resource -> key -> versions of the objects with that key, oldest first */
  readonly #versions: Readonly<Record<RecordedResource, Map<string, Version[]>>> = {
    pods: new Map(),
    nodes: new Map(),
    podgroups: new Map(),
    nativepodgroups: new Map(),
    persistentvolumeclaims: new Map(),
    persistentvolumes: new Map(),
  };
  /** Digest of all writes in order: equal runs have equal digests. */
  readonly #digest = createHash('sha1');

  add(at: number, resource: string, change: Change, by: string): Committed {
    const { type, resourceVersion: version, object } = change;
    const previous = change.type === 'ADDED' ? undefined : change.previous.object;
    const committed = {
      at,
      version,
      resource,
      type,
      key: object.key,
      uid: object.uid,
      object: object.object,
      previous,
      by,
    };
    this.changes.push(committed);
    this.#digest.update(`${at} ${by} ${type} ${resource} ${JSON.stringify(object.object)}\n`);
    const known = resources[resource];
    if (known !== undefined) {
      const versions = this.#versions[known];
      const ofKey = versions.get(object.key) ?? [];
      if (ofKey.length === 0) versions.set(object.key, ofKey);
      ofKey.push({ version, object: type === 'DELETED' ? undefined : object.object });
    }
    return committed;
  }

  get digest(): string {
    return `${this.changes.length}-${this.#digest.copy().digest('hex').slice(0, 12)}`;
  }

  /** Returns the object with that key, as of a resource version; default: now. */
  get(resource: RecordedResource, key: string, version = Infinity): JsonObject | undefined {
    return at(this.#versions[resource].get(key) ?? [], version);
  }

  /** Returns the object with that key, or the last state of the last one; undefined: there never was one. */
  getOrLast(resource: RecordedResource, key: string): JsonObject | undefined {
    return this.#versions[resource].get(key)?.findLast(({ object }) => object !== undefined)?.object;
  }

  /** Yields all objects of a resource, as of a version, in the order in which their keys were first used. */
  *all(resource: RecordedResource, version = Infinity): Iterable<JsonObject> {
    for (const versions of this.#versions[resource].values()) {
      const object = at(versions, version);
      if (object !== undefined) yield object;
    }
  }
}

function at(versions: readonly Version[], version: number): JsonObject | undefined {
  for (let i = versions.length - 1; i >= 0; i--) if (versions[i]!.version <= version) return versions[i]!.object;
  return undefined;
}
