import { podGroupLabel } from '../../../src/api/pod-group-membership.ts';
import type { Change } from '../../expect/recording.ts';
import type { WatchedObject } from '../../expect/watched.ts';
import type { CountedTime } from './counted-time.ts';

/** What a watch shows of a pod, as far as it is judged. */
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

/** A group that exists, as far as the API has shown it. */
interface Group {
  readonly name: string;
  readonly minMember: number;
  /** uid of members that are on nodes */
  readonly bound: Set<string>;
  started: boolean;
  /** While it is between 0 and minMember and has not started: since when, in counted time. */
  partialSince: number | undefined;
}

interface BoundPod {
  readonly name: string;
  readonly node: string;
  readonly cpu: number;
}

export interface JudgeOptions {
  /** So long a group may be between 0 and minMember, in counted time. */
  readonly boundMs: number;
  readonly counted: Pick<CountedTime, 'now'>;
  /** Node name -> cores */
  readonly nodes: ReadonlyMap<string, number>;
  /** Now, for what is written down. */
  readonly time: () => string;
}

/**
 * Judges what the API shows, change by change, by rules of its own: it shares no code with the scheduler. Requests are whole
 * cores, and a pod that was bound holds them until it is deleted.
 */
export class Judge {
  readonly problems: string[] = [];
  /** How long groups were between 0 and minMember, in counted milliseconds. */
  readonly partialMs: number[] = [];
  /** Bindings that were seen, by schedulerName. */
  readonly boundBy = new Map<string, number>();
  whole = 0;
  readonly #options: JudgeOptions;
  /** name -> group */
  readonly #groups = new Map<string, Group>();
  /** uid -> pod that is on a node */
  readonly #bound = new Map<string, BoundPod>();
  /** Node name -> cores that are taken */
  readonly #used = new Map<string, number>();

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Names of groups that are between 0 and minMember now. */
  get partial(): string[] {
    return [...this.#groups.values()].flatMap(({ name, partialSince }) => (partialSince === undefined ? [] : [name]));
  }

  /** Groups of which nobody is on a node, and those that are whole. */
  get others(): { readonly waiting: number; readonly started: number } {
    const groups = [...this.#groups.values()];
    const started = groups.filter((group) => group.started).length;
    return { started, waiting: groups.length - started - this.partial.length };
  }

  /** Cores that nobody has, by node. */
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
      this.#say(`pod ${name} was on node ${before.node} and is on ${nodeName || 'none'} now`);
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

  /** Groups that are partial for too long now, told once. */
  look(): void {
    for (const group of this.#groups.values()) this.#lookAt(group);
  }

  /** What is wrong with what there is in the end. */
  end(): void {
    for (const { name, bound, minMember, partialSince } of this.#groups.values()) {
      if (partialSince !== undefined) this.#say(`PodGroup ${name} ends with ${bound.size} of ${minMember} bound`);
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
      this.#say(`PodGroup ${name} is at ${bound.size} of ${minMember} for more than ${boundMs} ms`);
      group.partialSince = Infinity; // said
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
    if (used > cores) this.#say(`node ${pod.node} has ${cores} cores, and ${used} are taken since ${pod.name} came`);
  }

  #leave(uid: string, { node, cpu }: BoundPod): void {
    this.#bound.delete(uid);
    this.#used.set(node, this.#used.get(node)! - cpu);
  }

  #say(what: string): void {
    this.problems.push(`${this.#options.time()} ${what}`);
  }
}

function coresOf({ spec }: JudgedPod): number {
  return spec.containers.reduce((sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0), 0);
}
