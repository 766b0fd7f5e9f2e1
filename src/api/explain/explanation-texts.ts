import type { Subject, Unknown } from './basis.ts';
import type { NearestNode, RejectionDetail, Remedy, Shortage } from './explanation.ts';

/**
 * What the commands and the timeline page say alike of the parts of an explanation. The texts contain names and messages of others as they are: make them safe
 * for where they are shown. A newer scheduler may send parts that this version does not know.
 */

/** How many pods a text names. */
const maxNamed = 4;

const unknownTexts: Readonly<Record<Unknown, string>> = {
  configuration: "the scheduler's configuration, so the defaults are assumed",
  assumedPods: 'pods that are being bound',
  reservations: 'reservations that no pod shows',
  queueOrder: 'attempts and back-off',
  hiddenPods: 'pods of other namespaces',
  hiddenNodes: 'the nodes',
  plugins: "plugins that are not Tutti's",
  extenders: 'what extenders answer',
  admission: 'admission',
  volumes: 'volumes',
  workCap: 'more, because the work for one answer was used up',
};

/** Returns what an answer does not know; empty: it knows everything. */
export function unknownsText(unknowns: readonly Unknown[]): string {
  const texts = unknowns.map((each) => unknownTexts[each] ?? each);
  return texts.length === 0 ? '' : `Not known: ${texts.join('; ')}.`;
}

export function nameOf({ namespace, name }: Subject): string {
  return `${namespace}/${name}`;
}

export function rejectionText({ code, message, resource, needed, mostFree, key }: RejectionDetail): string {
  if (code === 'TakenBySiblings') return `taken by other members of the group: ${message}`;
  if (resource !== undefined && needed !== undefined) return `${resource}: needs ${needed}, at most ${mostFree} free`;
  return key === undefined ? message : `${message}: ${key}`;
}

export function nearestText({ node, missing, rejections, heldBy }: NearestNode): string {
  const lacks = Object.entries(missing).map(([resource, amount]) => `${amount} ${resource}`);
  const others = rejections.filter(({ resource }) => resource === undefined).map(rejectionText);
  const parts = [...(lacks.length === 0 ? [] : [`lacks ${lacks.join(', ')}`]), ...others];
  const held = heldBy.length === 0 ? '' : `; used by ${heldBy.map(nameOf).join(', ')}`;
  return `${node}: ${parts.join('; ')}${held}`;
}

/** Says what the verdict says, for one resource. */
export function shortageText({ resource, more, isAtLeast, free, left, mostLeft, total }: Shortage): string {
  const onNodes = `${total} in total on the nodes it may use`;
  if (more !== undefined)
    return `${resource}: ${isAtLeast === true ? 'at least ' : ''}${more} more needed; ${free} free, ${onNodes}`;
  const of = left === free ? `${free} free` : `${left} left by the members that would fit`;
  return `${resource}: ${of}, at most ${mostLeft} on one node; ${onNodes}`;
}

/** Returns the change that would help. */
export function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'podsEnd': {
      const { pods, highestPriority } = remedy;
      const named = pods.slice(0, maxNamed).map(nameOf).join(', ');
      const more = pods.length > maxNamed ? ` and ${pods.length - maxNamed} more` : '';
      const what = pods.length === 1 ? 'this pod ends' : `these ${pods.length} pods end`;
      return `${what}, of priority ${highestPriority} at most: ${named}${more}`;
    }
    case 'uncordon':
      return `kubectl uncordon ${remedy.nodes.join(' ')}`;
    case 'addNodes':
      return `${remedy.count} more ${remedy.count === 1 ? 'node' : 'nodes'} like ${remedy.like}`;
    case 'lowerMinMember':
      return `minMember ${remedy.to}`;
    case 'raisePriority':
      return `a priority above ${remedy.above}, with which it may preempt`;
    default:
      return 'a change that this version does not know';
  }
}
