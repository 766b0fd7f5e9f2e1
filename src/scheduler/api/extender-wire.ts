/**
 * The wire format of k8s.io/kube-scheduler/extender/v1. Written field names have Go's case, as its encoder writes them. Read field names may
 * have any case, as its decoder accepts them, because many extenders write `nodenames` or `error`.
 */
import type { ExtenderFilterResult } from '../../framework/extender.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';

/** The extender's response is invalid or reports an error. */
export class ExtenderAnswerError extends Error {
  override readonly name = 'ExtenderAnswerError';
}

/** Returns ExtenderArgs as JSON. `nodes`: the JSON of each node, or only the names. */
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
 * Parses an ExtenderFilterResult. `requested`: names of the nodes in the request. `byName`: the request had only names; NodeNames then takes
 * precedence over Nodes. Throws ExtenderAnswerError.
 */
export function readFilterResult(
  answer: unknown,
  requested: ReadonlySet<string>,
  byName: boolean,
): ExtenderFilterResult {
  mustBeObject(answer, 'an ExtenderFilterResult');
  throwReportedError(answer);
  const given = { names: fieldOf(answer, 'NodeNames'), nodes: fieldOf(answer, 'Nodes') };
  const takesNames = given.names !== undefined && (byName || given.nodes === undefined);
  const names = takesNames ? given.names : itemNamesOf(given.nodes);
  const passed = new Set<string>();
  for (const name of listOf(names, 'NodeNames')) {
    if (typeof name !== 'string' || !requested.has(name)) {
      throw new ExtenderAnswerError(`it returned node ${shown(name)}, which is not in the request`);
    }
    passed.add(name);
  }
  return {
    passed,
    failed: reasonsOf(answer, 'FailedNodes'),
    unresolvable: reasonsOf(answer, 'FailedAndUnresolvableNodes'),
  };
}

/** Returns node name -> score. Repeated entries of a node are added up. Throws ExtenderAnswerError. */
export function readHostPriorities(answer: unknown): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const entry of listOf(answer, 'HostPriorityList')) {
    const host = fieldOf(entry, 'Host');
    const score = fieldOf(entry, 'Score') ?? 0;
    // A larger score times its weight could overflow to a non-finite number.
    if (typeof host !== 'string' || typeof score !== 'number' || !(Math.abs(score) <= Number.MAX_SAFE_INTEGER)) {
      throw new ExtenderAnswerError(
        `HostPriorityList contains ${shown(entry)}; each entry must have a Host and a Score`,
      );
    }
    scores.set(host, (scores.get(host) ?? 0) + score);
  }
  return scores;
}

/** Throws ExtenderAnswerError if the response is invalid or reports an error. */
export function readBindingResult(answer: unknown): void {
  mustBeObject(answer, 'an ExtenderBindingResult');
  throwReportedError(answer);
}

function throwReportedError(answer: unknown): void {
  const error = fieldOf(answer, 'Error') ?? '';
  if (error !== '') throw new ExtenderAnswerError(typeof error === 'string' ? error : shown(error));
}

function mustBeObject(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ExtenderAnswerError(`its response is not ${what}: ${shown(value)}`);
  }
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ExtenderAnswerError(`${what} must be a list, not ${shown(value)}`);
  return value;
}

/** Returns the node names in a NodeList. */
function itemNamesOf(nodes: unknown): readonly unknown[] {
  if (nodes === undefined || nodes === null) return [];
  return listOf(fieldOf(nodes, 'items'), 'Nodes.items').map((node) => fieldOf(fieldOf(node, 'metadata'), 'name'));
}

function reasonsOf(answer: unknown, name: string): ReadonlyMap<string, string> {
  const reasons = fieldOf(answer, name);
  if (typeof reasons !== 'object' || reasons === null) return new Map();
  return new Map(Object.entries(reasons).map(([node, why]) => [node, typeof why === 'string' ? why : shown(why)]));
}

/** Returns the field with this name, in this case if possible, otherwise in any case. Null counts as absent. */
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
