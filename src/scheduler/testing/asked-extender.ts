import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { Extender, ExtenderFilterResult } from '../../framework/extender.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import type { ExtenderPort } from '../ports.ts';

/** A pending call to an extender. The test responds to it. */
export interface Asked {
  readonly extender: string;
  readonly verb: 'filter' | 'prioritize' | 'bind';
  readonly pod: string;
  readonly nodes: readonly string[];
  readonly signal: AbortSignal;
  /** Responds to filter with the nodes that pass and the reasons for the others. */
  readonly leave: (names: readonly string[], why?: Partial<Omit<ExtenderFilterResult, 'passed'>>) => void;
  readonly score: (scores: Readonly<Record<string, number>>) => void;
  readonly accept: () => void;
  readonly fail: (reason: string) => void;
}

export interface ExtenderTraits {
  readonly name?: string;
  readonly verbs?: readonly Asked['verb'][];
  readonly isIgnorable?: boolean;
  readonly weight?: number;
  readonly managedResources?: readonly string[];
}

/** Extenders whose responses the test controls. */
export class AskedExtenders implements ExtenderPort {
  readonly extenders: readonly Extender[];
  /** Pending calls, in order. */
  readonly asked: Asked[] = [];
  /** All calls ever made, as `extender verb pod: nodes`. */
  readonly history: string[] = [];
  /** Names of the pods that were read whole. */
  readonly read: string[] = [];
  /** Name of a pod that cannot be read. */
  unreadable: string | undefined;

  constructor(...traits: readonly ExtenderTraits[]) {
    this.extenders = traits.map((each) => this.#extender(each));
  }

  whole(pod: Pod): Promise<{ readonly json: string }> {
    this.read.push(pod.name);
    return this.unreadable === pod.name ? Promise.reject(new Error('not found')) : Promise.resolve({ json: pod.name });
  }

  /** Pending calls, as `extender verb pod: nodes`. */
  get open(): readonly string[] {
    return this.asked.map(described);
  }

  /** Removes and returns the next pending call, or the next one for this pod. */
  next(pod?: string): Asked {
    const index = pod === undefined ? 0 : this.asked.findIndex((asked) => asked.pod === pod);
    const [asked] = index < 0 ? [] : this.asked.splice(index, 1);
    if (asked === undefined) throw new Error(`no call is pending${pod === undefined ? '' : ` for pod ${pod}`}`);
    return asked;
  }

  #extender(traits: ExtenderTraits): Extender {
    const { name = 'outside', verbs = ['filter'], isIgnorable = false, weight = 1, managedResources = [] } = traits;
    const extender: { -readonly [K in keyof Extender]: Extender[K] } = { name, isIgnorable, weight, managedResources };
    if (verbs.includes('filter')) {
      extender.filter = (pod, nodes, signal) =>
        this.#ask<ExtenderFilterResult>(name, 'filter', pod.json, nodes.map(nameOf), signal);
    }
    if (verbs.includes('prioritize')) {
      extender.prioritize = (pod, nodes, signal) =>
        this.#ask<ReadonlyMap<string, number>>(name, 'prioritize', pod.json, nodes.map(nameOf), signal);
    }
    if (verbs.includes('bind')) {
      extender.bind = (binding: PodBinding, signal) =>
        this.#ask<undefined>(name, 'bind', binding.name, [binding.nodeName], signal);
    }
    return extender;
  }

  #ask<T>(
    extender: string,
    verb: Asked['verb'],
    pod: string,
    nodes: readonly string[],
    signal: AbortSignal,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const respond = (answer: unknown): void => resolve(answer as T);
      const asked: Asked = {
        extender,
        verb,
        pod,
        nodes,
        signal,
        leave: (names, why = {}) =>
          respond({
            passed: new Set(names),
            failed: why.failed ?? new Map(),
            unresolvable: why.unresolvable ?? new Map(),
          }),
        score: (scores) => respond(new Map(Object.entries(scores))),
        accept: () => respond(undefined),
        fail: (reason) => reject(new Error(reason)),
      };
      this.asked.push(asked);
      this.history.push(described(asked));
      signal.addEventListener('abort', () => {
        const index = this.asked.indexOf(asked);
        if (index >= 0) this.asked.splice(index, 1);
        reject(signal.reason as Error);
      });
    });
  }
}

function nameOf({ name }: Node): string {
  return name;
}

function described({ extender, verb, pod, nodes }: Asked): string {
  return `${extender} ${verb} ${pod}: ${[...nodes].sort().join(',')}`;
}
