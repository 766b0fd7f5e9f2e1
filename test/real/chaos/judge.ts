import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import type { Change } from '../../expect/recording.ts';
import type { WatchedObject } from '../../expect/watched.ts';
import type { CountedTime } from './counted-time.ts';

/** The fields of a watched pod that the judge reads. */
export interface JudgedPod extends WatchedObject {
  readonly metadata: WatchedObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly nodeName?: string;
    readonly schedulerName?: string;
    readonly containers: readonly { readonly resources?: { readonly requests?: { readonly cpu?: string } } }[];
  };
}

export interface JudgedGroup extends WatchedObject {
  readonly spec?: { readonly minMember?: number };
}

/** An existing group as the API shows it. */
interface Group {
  readonly name: string;
  readonly minMember: number;
  /** uids of bound members */
  readonly bound: Set<string>;
  started: boolean;
  /** Counted time since which it is partially bound without having started. */
  partialSince: number | undefined;
}

interface BoundPod {
  readonly name: string;
  readonly node: string;
  readonly cpu: number;
}

export interface JudgeOptions {
  /** Maximum counted time for which a group may be partially bound. */
  readonly boundMs: number;
  readonly counted: Pick<CountedTime, 'now'>;
  /** node name -> cores */
  readonly nodes: ReadonlyMap<string, number>;
  /** Current time for reports. */
  readonly time: () => string;
}

/**
 * Judges the changes that the API shows, independently: it shares no code with the scheduler. Requests are whole cores, and a bound pod
 * uses them until it is deleted.
 */
export class Judge {
  readonly problems: string[] = [];
  /** How long groups were partially bound, in counted milliseconds. */
  readonly partialMs: number[] = [];
  /** schedulerName -> number of observed Bindings */
  readonly boundBy = new Map<string, number>();
  whole = 0;
  readonly #options: JudgeOptions;
  /** name -> group */
  readonly #groups = new Map<string, Group>();
  /** uid -> bound pod */
  readonly #bound = new Map<string, BoundPod>();
  /** node name -> cores in use */
  readonly #used = new Map<string, number>();

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Names of groups that are partially bound now. */
  get partial(): string[] {
    return [...this.#groups.values()].flatMap(({ name, partialSince }) => (partialSince === undefined ? [] : [name]));
  }

  /** Number of groups without bound members, and of complete ones. */
  get others(): { readonly waiting: number; readonly started: number } {
    const groups = [...this.#groups.values()];
    const started = groups.filter((group) => group.started).length;
    return { started, waiting: groups.length - started - this.partial.length };
  }

  /** Free cores by node. */
  get free(): ReadonlyMap<string, number> {
    const { nodes } = this.#options;
    return new Map([...nodes].map(([name, cores]) => [name, cores - (this.#used.get(name) ?? 0)]));
  }

  group({ type, object: { metadata, spec } }: Change<JudgedGroup>): void {
    const { name } = metadata;
    if (type === 'DELETED') {
      this.#groups.delete(name);
      return;
    }
    if (this.#groups.has(name)) return; // names are used once
    const minMember = spec?.minMember ?? 1;
    this.#groups.set(name, { name, minMember, bound: new Set(), started: false, partialSince: undefined });
  }

  pod({ type, object: pod }: Change<JudgedPod>): void {
    const { uid, name, labels } = pod.metadata;
    const { nodeName = '', schedulerName = '' } = pod.spec;
    const before = this.#bound.get(uid);
    if (type === 'DELETED') {
      if (before !== undefined) this.#leave(uid, before);
    } else if (before !== undefined && before.node !== nodeName) {
      this.#report(`pod ${name} was bound to node ${before.node} and is now bound to ${nodeName || 'none'}`);
    } else if (before === undefined && nodeName !== '') {
      this.boundBy.set(schedulerName, (this.boundBy.get(schedulerName) ?? 0) + 1);
      this.#enter(uid, { name, node: nodeName, cpu: coresOf(pod) });
    }
    const group = this.#groups.get(labels?.[podGroupLabel] ?? '');
    if (group === undefined) return;
    if (this.#bound.has(uid)) group.bound.add(uid);
    else group.bound.delete(uid);
    this.#lookAt(group);
  }

  /** Reports groups that have been partially bound for too long, once each. */
  look(): void {
    for (const group of this.#groups.values()) this.#lookAt(group);
  }

  /** Reports problems of the final state. */
  end(): void {
    for (const { name, bound, minMember, partialSince } of this.#groups.values()) {
      if (partialSince !== undefined) this.#report(`PodGroup ${name} ends with ${bound.size} of ${minMember} bound`);
    }
  }

  #lookAt(group: Group): void {
    const { counted, boundMs } = this.#options;
    const { name, bound, minMember } = group;
    if (!group.started && bound.size >= minMember) {
      group.started = true;
      this.whole++;
    }
    if (!group.started && bound.size > 0) {
      group.partialSince ??= counted.now;
      const lasting = counted.now - group.partialSince;
      if (lasting <= boundMs) return;
      this.#report(`PodGroup ${name} is at ${bound.size} of ${minMember} for more than ${boundMs} ms`);
      group.partialSince = Infinity; // reported
      return;
    }
    if (group.partialSince === undefined) return;
    const lasted = counted.now - group.partialSince;
    if (Number.isFinite(lasted)) this.partialMs.push(lasted);
    group.partialSince = undefined;
  }

  #enter(uid: string, pod: BoundPod): void {
    this.#bound.set(uid, pod);
    const used = (this.#used.get(pod.node) ?? 0) + pod.cpu;
    this.#used.set(pod.node, used);
    const cores = this.#options.nodes.get(pod.node) ?? 0;
    if (used > cores)
      this.#report(`node ${pod.node} has ${cores} cores, but ${used} are in use since ${pod.name} was bound`);
  }

  #leave(uid: string, { node, cpu }: BoundPod): void {
    this.#bound.delete(uid);
    this.#used.set(node, this.#used.get(node)! - cpu);
  }

  #report(what: string): void {
    this.problems.push(`${this.#options.time()} ${what}`);
  }
}

function coresOf({ spec }: JudgedPod): number {
  return spec.containers.reduce((sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0), 0);
}
