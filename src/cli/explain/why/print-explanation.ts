import type { Basis } from '../../../api/explain/basis.ts';
import type { Blocker, Explanation, FunnelRow } from '../../../api/explain/explanation.ts';
import {
  nameOf,
  nearestText,
  rejectionText,
  remedyText,
  shortageText,
  unknownsText,
} from '../../../api/explain/explanation-texts.ts';
import type { WaitsFor } from '../../../api/verdict.ts';
import { safeText } from '../../../base/safe-text.ts';
import type { CommandContext } from '../../command-context.ts';
import { ageSince } from '../../output/age.ts';
import { colored, usesColor } from '../../output/color.ts';
import type { ColorMode } from '../../output/color.ts';
import { printNote } from '../../output/print.ts';
import { tableLines } from '../../output/table.ts';

/** Prints an explanation for people; the parts that failed go to standard error. */
export function printExplanation(
  explanation: Explanation,
  { color }: { readonly color: ColorMode },
  context: Pick<CommandContext, 'stdout' | 'stderr' | 'environment' | 'clock'>,
): void {
  const { stdout, environment, clock } = context;
  const hasColors = usesColor(color, stdout, environment);
  const lines = [
    headline(explanation, clock.now(), hasColors),
    ...explanationLines(explanation, clock.now()),
    basisLine(explanation.basis),
  ];
  stdout.write(`${lines.join('\n')}\n`);
  for (const { part, message } of explanation.errors) printNote(`${part}: ${message}`, context);
}

/** Returns why the entity does not fit, and what would help. All text is safe to show. */
export function explanationLines(explanation: Explanation, now: number): readonly string[] {
  return [
    ...verdictLines(explanation),
    ...blockerLines(explanation),
    ...outlookLines(explanation, now),
    ...remedyLines(explanation),
  ];
}

const waitTexts: Readonly<Record<WaitsFor, string>> = {
  members: 'waits for members',
  gates: 'waits for scheduling gates',
  turn: 'waits for its turn',
  capacity: 'waits for capacity',
  nodes: 'waits for unavailable nodes',
  never: 'never fits on the present nodes',
  permit: 'waits for a Permit plugin',
  error: 'waits until an error is gone',
  unknown: 'waits for an unknown cause',
};

function headline(
  { subject, state, waitsFor, since, attempts, gang }: Explanation,
  now: number,
  hasColors: boolean,
): string {
  const what = waitsFor === undefined ? state : `${state}, ${waitTexts[waitsFor]}`;
  const details = [
    ...(gang === undefined ? [] : [`${gang.bound} of ${gang.minMember} needed members bound, ${gang.existing} exist`]),
    ...(since === undefined ? [] : [`since ${since} (${ageSince(since, now)})`]),
    ...(attempts === undefined || attempts === 0 ? [] : [`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`]),
  ];
  const name = safeText(nameOf(subject));
  const isGood = state === 'Running' || state === 'Finished' || state === 'Starting';
  const shown = hasColors ? colored(what, isGood ? 'green' : state === 'Partial' ? 'red' : 'yellow') : what;
  return `${name}: ${shown}${details.length === 0 ? '' : `; ${details.join('; ')}`}`;
}

function verdictLines({ verdict, fitsNow, state }: Explanation): readonly string[] {
  if (verdict !== undefined) return [safeText(verdict.message)];
  return fitsNow === true && state === 'Waiting' ? ['It fits now. The scheduler has not tried it yet.'] : [];
}

function blockerLines({ blocker, placed, needed, shortages }: Explanation): readonly string[] {
  if (blocker === undefined) return [];
  const { member, alike, requests, funnel, nearest, rejection } = blocker;
  const like = alike > 1 ? ` (${alike - 1} more like it)` : '';
  const asks = Object.entries(requests)
    .filter(([name]) => name !== 'pods')
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');
  const request = asks === '' ? '' : `; it requests ${asks}`;
  const first = `${placed ?? 0} of ${needed ?? 1} placed. Then ${member}${like} found no node${request}.`;
  return [
    '',
    safeText(first),
    ...(rejection === undefined ? [] : [`  ${safeText(rejectionText(rejection))}`]),
    ...(funnel.length === 0 ? [] : funnelLines(blocker, funnel)),
    ...nearest.slice(0, 3).map((node) => `  nearest: ${safeText(nearestText(node))}`),
    ...shortages.map((shortage) => `  ${safeText(shortageText(shortage))}`),
  ];
}

function funnelLines({ nodes }: Blocker, funnel: readonly FunnelRow[]): readonly string[] {
  let before = nodes;
  const rows = funnel.map((row) => {
    const shown = { before, ...row };
    before = row.left;
    return shown;
  });
  const columns = [
    { header: 'NODES', text: (row: (typeof rows)[number]) => String(row.before) },
    { header: 'LEFT', text: (row: (typeof rows)[number]) => String(row.left) },
    {
      header: 'RULED OUT BY',
      text: ({ removed, rejections }: (typeof rows)[number]) =>
        `${removed} ${rejections.map(rejectionText).join(', ')}`,
    },
    { header: 'PLUGIN', text: ({ rejections }: (typeof rows)[number]) => rejections[0]!.plugin },
    { header: 'CODE', text: ({ rejections }: (typeof rows)[number]) => rejections.map(({ code }) => code).join(',') },
  ];
  return tableLines(columns, rows, { hasHeaders: true, hasColors: false }).map((line) => `  ${line}`);
}

function outlookLines({ withoutOtherPods, ahead, start, fitsNow }: Explanation, now: number): readonly string[] {
  if (fitsNow !== false) return [];
  const fits = { fits: 'it would fit', never: 'it would not fit either', unknown: 'unknown' } as const;
  return [
    '',
    ...(withoutOtherPods === undefined ? [] : [`Without other pods: ${fits[withoutOtherPods]}.`]),
    ...(ahead === undefined
      ? []
      : [`Ahead of it in the queue: ${ahead === 0 ? 'nothing' : `${ahead} ${ahead === 1 ? 'entity' : 'entities'}`}.`]),
    ...(start === undefined
      ? []
      : start.at === undefined
        ? [`Until when: unknown; ${start.withoutEnd} of ${start.blocking} pods in its way declare no end.`]
        : [
            `Until when: ${start.at} at the latest (in ${ageSince(new Date(now).toISOString(), Date.parse(start.at))}; ${start.confidence.toLowerCase()} ends).`,
          ]),
  ];
}

function remedyLines({ whatHelps, fitsNow }: Explanation): readonly string[] {
  if (fitsNow !== false) return [];
  if (whatHelps.length === 0) return ['', 'No single change was found that makes it fit.'];
  return ['', 'Any one of these would help:', ...whatHelps.map((remedy) => safeText(`  - ${remedyText(remedy)}`))];
}

const sources = {
  conditions: 'the conditions of its objects',
  api: 'all nodes and pods',
  scheduler: 'the scheduler that leads',
  snapshot: 'the snapshot',
} as const satisfies Record<Basis['source'], string>;

/** Returns what an answer rests on and what it does not know, after an empty line. */
export function basisLine({ source, ageSeconds, unknowns }: Basis): string {
  const isOfNamespaces = source === 'api' && unknowns.includes('hiddenPods');
  const from = isOfNamespaces ? 'the pods and groups of its namespace' : sources[source];
  return `\nFrom ${from}, ${ageSeconds.toFixed(1)} s old. ${unknownsText(unknowns)}`.trimEnd();
}
