/**
 * The wire format of k8s.io/kube-scheduler/extender/v1. Names are Go's, as its encoder writes them; what is read may have them in
 * any case, as its decoder takes them, because many extenders write `nodenames` or `error`.
 */
import type { ExtenderFilterResult } from '../../framework/extender.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';

/** An extender's answer is not what it has to be, or says that it failed. */
export class ExtenderAnswerError extends Error {
  override readonly name = 'ExtenderAnswerError';
}

/** `nodes`: JSON of each, or their names. */
export function extenderArgs(
  podJson: string,
  nodes: { readonly json: readonly string[] } | { readonly names: readonly string[] },
): string {
  return 'json' in nodes
    ? `{"Pod":${podJson},"Nodes":{"metadata":{},"items":[${nodes.json.join(',')}]},"NodeNames":null}`
    : `{"Pod":${podJson},"Nodes":null,"NodeNames":${JSON.stringify(nodes.names)}}`;
}

export function bindingArgs({ namespace, name, uid, nodeName }: PodBinding): string {
  return JSON.stringify({ PodName: name, PodNamespace: namespace, PodUID: uid, Node: nodeName });
}

/**
 * `asked`: names of the nodes that it was asked about; `byName`: as names alone, which decides what counts where it answers with names
 * and with nodes. Throws ExtenderAnswerError.
 */
export function readFilterResult(answer: unknown, asked: ReadonlySet<string>, byName: boolean): ExtenderFilterResult {
  mustBeObject(answer, 'an ExtenderFilterResult');
  throwItsError(answer);
  const given = { names: fieldOf(answer, 'NodeNames'), nodes: fieldOf(answer, 'Nodes') };
  const takesNames = given.names !== undefined && (byName || given.nodes === undefined);
  const names = takesNames ? given.names : itemNamesOf(given.nodes);
  const passed = new Set<string>();
  for (const name of listOf(names, 'NodeNames')) {
    if (typeof name !== 'string' || !asked.has(name)) {
      throw new ExtenderAnswerError(`it left node ${shown(name)}, which it was not asked about`);
    }
    passed.add(name);
  }
  return {
    passed,
    failed: reasonsOf(answer, 'FailedNodes'),
    unresolvable: reasonsOf(answer, 'FailedAndUnresolvableNodes'),
  };
}

/** Node -> its score; what is said of one twice counts together. Throws ExtenderAnswerError. */
export function readHostPriorities(answer: unknown): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const entry of listOf(answer, 'a HostPriorityList')) {
    const host = fieldOf(entry, 'Host');
    const score = fieldOf(entry, 'Score') ?? 0;
    // A larger one, times its weight, could end up as no number.
    if (typeof host !== 'string' || typeof score !== 'number' || !(Math.abs(score) <= Number.MAX_SAFE_INTEGER)) {
      throw new ExtenderAnswerError(`a HostPriorityList has ${shown(entry)}; each must have a Host and a Score`);
    }
    scores.set(host, (scores.get(host) ?? 0) + score);
  }
  return scores;
}

/** Throws ExtenderAnswerError, also when it says that it failed. */
export function readBindingResult(answer: unknown): void {
  mustBeObject(answer, 'an ExtenderBindingResult');
  throwItsError(answer);
}

function throwItsError(answer: unknown): void {
  const error = fieldOf(answer, 'Error') ?? '';
  if (error !== '') throw new ExtenderAnswerError(typeof error === 'string' ? error : shown(error));
}

function mustBeObject(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ExtenderAnswerError(`its answer is not ${what}: ${shown(value)}`);
  }
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ExtenderAnswerError(`${what} must be a list, not ${shown(value)}`);
  return value;
}

/** Names in a NodeList. */
function itemNamesOf(nodes: unknown): readonly unknown[] {
  if (nodes === undefined || nodes === null) return [];
  return listOf(fieldOf(nodes, 'items'), 'Nodes.items').map((node) => fieldOf(fieldOf(node, 'metadata'), 'name'));
}

function reasonsOf(answer: unknown, name: string): ReadonlyMap<string, string> {
  const reasons = fieldOf(answer, name);
  if (typeof reasons !== 'object' || reasons === null) return new Map();
  return new Map(Object.entries(reasons).map(([node, why]) => [node, typeof why === 'string' ? why : shown(why)]));
}

/** The field of this name, in this case or else in any; null counts as absent. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const object = value as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(object, name)) return object[name] ?? undefined;
  const key = Object.keys(object).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : (object[key] ?? undefined);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
