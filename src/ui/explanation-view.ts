import type { Explanation } from '../api/explain/explanation.ts';
import {
  nearestText,
  rejectionText,
  remedyText,
  shortageText,
  unknownsText,
} from '../api/explain/explanation-texts.ts';
import { element } from './element.ts';

/** Returns an explanation as elements. It shows what `tutti why` prints. */
export function explanationView(explanation: Explanation): readonly HTMLElement[] {
  const { verdict, attempts, ahead, withoutOtherPods, fitsNow, shortages, whatHelps, start, basis } = explanation;
  const unknowns = unknownsText(basis.unknowns);
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
    ...(shortages.length === 0 ? [] : [element('h3', {}, 'Shortages'), list(shortages.map(shortageText))]),
    ...(whatHelps.length === 0
      ? []
      : [element('h3', {}, 'Any one of these would help'), list(whatHelps.map(remedyText))]),
    ...(unknowns === '' ? [] : [element('p', {}, unknowns)]),
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
      ...[String(left), String(removed), rejections.map(rejectionText).join(', '), rejections[0]?.plugin ?? ''].map(
        (text) => element('td', {}, text),
      ),
    ),
  );
  const headers = ['Left', 'Ruled out', 'By', 'Plugin'].map((text) => element('th', { scope: 'col' }, text));
  return [
    element('h3', {}, 'What blocks it'),
    element('p', {}, `${placed ?? 0} of ${needed ?? 1} placed. Then ${member}${more} found no node of ${nodes}.`),
    ...(rejection === undefined ? [] : [element('p', {}, rejectionText(rejection))]),
    ...(rows.length === 0
      ? []
      : [element('table', {}, element('thead', {}, element('tr', {}, ...headers)), element('tbody', {}, ...rows))]),
    ...(nearest.length === 0 ? [] : [element('h3', {}, 'Nearest nodes'), list(nearest.map(nearestText))]),
  ];
}

function list(texts: readonly string[]): HTMLElement {
  return element('ul', {}, ...texts.map((text) => element('li', {}, text)));
}
