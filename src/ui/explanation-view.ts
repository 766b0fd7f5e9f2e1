import type { Explanation, Remedy, RejectionDetail } from '../api/explain/explanation.ts';
import type { Subject } from '../api/explain/basis.ts';
import { element } from './element.ts';

/** Returns an explanation as elements. It shows what `tutti why` prints. */
export function explanationView(explanation: Explanation): readonly HTMLElement[] {
  const { verdict, attempts, ahead, withoutOtherPods, fitsNow, shortages, whatHelps, start, basis } = explanation;
  const facts = [
    ...(verdict === undefined ? [] : [verdict.message]),
    ...(attempts === undefined ? [] : [`Attempts so far: ${attempts}.`]),
    ...(fitsNow === true && verdict === undefined ? ['It fits now.'] : []),
    ...(fitsNow === false && withoutOtherPods !== undefined ? [withoutOthers[withoutOtherPods]] : []),
    ...(ahead === undefined ? [] : [`Ahead of it in the queue: ${ahead}.`]),
    ...(start === undefined
      ? []
      : [
          start.at === undefined
            ? 'When it starts is unknown.'
            : `It starts at ${start.at} at the latest (${start.confidence.toLowerCase()} ends).`,
        ]),
  ];
  const parts = [
    ...facts.map((fact) => element('p', {}, fact)),
    ...blockerView(explanation),
    ...(shortages.length === 0
      ? []
      : [
          element('h3', {}, 'Shortages'),
          list(
            shortages.map(
              ({ resource, more, free, total }) =>
                `${resource}: ${more === undefined ? 'enough in total, too little on each node' : `${more} more needed`}; ${free} free of ${total}`,
            ),
          ),
        ]),
    ...(whatHelps.length === 0 ? [] : [element('h3', {}, 'Any one of these would help'), list(whatHelps.map(advice))]),
    ...(basis.unknowns.length === 0 ? [] : [element('p', {}, `Not known: ${basis.unknowns.join(', ')}.`)]),
  ];
  return parts.length === 0 ? [element('p', {}, 'It waits for nothing.')] : parts;
}

const withoutOthers = {
  fits: 'It would fit without other pods.',
  never: 'It would not fit without other pods either.',
  unknown: 'Whether it would fit without other pods is unknown.',
} as const;

function blockerView({ blocker, placed, needed }: Explanation): readonly HTMLElement[] {
  if (blocker === undefined) return [];
  const { member, alike, nodes, funnel, rejection, nearest } = blocker;
  const more = alike > 1 ? ` (${alike - 1} more like it)` : '';
  const rows = funnel.map(({ removed, left, rejections }) =>
    element(
      'tr',
      {},
      ...[String(left), String(removed), rejections.map(rejectionText).join(', ')].map((text) =>
        element('td', {}, text),
      ),
    ),
  );
  const headers = ['Left', 'Ruled out', 'By'].map((text) => element('th', { scope: 'col' }, text));
  return [
    element('h3', {}, 'What blocks it'),
    element('p', {}, `${placed ?? 0} of ${needed ?? 1} placed. Then ${member}${more} found no node of ${nodes}.`),
    ...(rejection === undefined ? [] : [element('p', {}, rejectionText(rejection))]),
    ...(rows.length === 0
      ? []
      : [element('table', {}, element('thead', {}, element('tr', {}, ...headers)), element('tbody', {}, ...rows))]),
    ...(nearest.length === 0
      ? []
      : [
          element('h3', {}, 'Nearest nodes'),
          list(
            nearest.map(({ node, missing, heldBy }) => {
              const lacks = Object.entries(missing).map(([resource, amount]) => `${amount} ${resource}`);
              return [
                `${node}${lacks.length === 0 ? '' : ` lacks ${lacks.join(', ')}`}`,
                ...(heldBy.length === 0 ? [] : [`used by ${heldBy.map(name).join(', ')}`]),
              ].join('; ');
            }),
          ),
        ]),
  ];
}

function rejectionText({ plugin, message, resource, needed, mostFree, key }: RejectionDetail): string {
  const by = plugin === '' ? '' : ` (${plugin})`;
  if (resource !== undefined && needed !== undefined)
    return `${resource}: needs ${needed}, at most ${mostFree ?? '0'} free${by}`;
  return `${message}${key === undefined ? '' : `: ${key}`}${by}`;
}

function advice(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'podsEnd':
      return `${remedy.pods.length === 1 ? 'this pod ends' : `these ${remedy.pods.length} pods end`}: ${remedy.pods.slice(0, 5).map(name).join(', ')}`;
    case 'uncordon':
      return `kubectl uncordon ${remedy.nodes.join(' ')}`;
    case 'addNodes':
      return `${remedy.count} more ${remedy.count === 1 ? 'node' : 'nodes'} like ${remedy.like}`;
    case 'lowerMinMember':
      return `minMember ${remedy.to}`;
    case 'raisePriority':
      return `a priority above ${remedy.above}, with which it may preempt`;
    default:
      // A newer server may know more.
      return 'a change that this page does not know';
  }
}

function name({ namespace, name: own }: Subject): string {
  return `${namespace}/${own}`;
}

function list(texts: readonly string[]): HTMLElement {
  return element('ul', {}, ...texts.map((text) => element('li', {}, text)));
}
