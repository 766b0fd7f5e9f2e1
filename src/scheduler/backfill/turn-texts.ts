import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import type { PredictedStart } from '../../api/verdict.ts';
import type { FuturePlan } from './start-search.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** What the verdict of an entity says for which capacity is reserved. */
export function reservedFor({ nominations, startsAt, isEstimated }: FuturePlan, now: number): string {
  const count = new Set(nominations.map(({ nodeName }) => nodeName)).size;
  const reserved = `Waiting for capacity: ${count} ${count === 1 ? 'node' : 'nodes'} reserved`;
  if (startsAt === undefined) return `${reserved}, draining pods that declare no end.`;
  const ends = isEstimated ? 'some ends are estimates' : 'all ends declared';
  return `${reserved}, expected to start by ${timeOf(startsAt, now)} (${ends}).`;
}

export function predictedStartOf({ startsAt, isEstimated }: FuturePlan): PredictedStart {
  if (startsAt === undefined) return { confidence: 'Draining' };
  return { at: startsAt, confidence: isEstimated ? 'Estimated' : 'Declared' };
}

/** What the verdict of an entity says that would fit without the capacity reserved for `holder`. */
export function waitsBehind(holder: string, { startsAt, from }: FuturePlan, now: number): string {
  const who = `Capacity is reserved for ${holder}`;
  const when =
    startsAt === undefined
      ? ', which waits for pods that declare no end'
      : `, which starts by ${timeOf(startsAt, now)}`;
  const minutes = Math.floor((from - now) / minuteMs);
  const hint = minutes < 1 ? '' : `; a declared runtime of at most ${durationOf(minutes)} would fit before`;
  return `${who}${when}${hint}.`;
}

/** Returns the next full minute: `12:40Z`, with the date unless it is within a day. */
function timeOf(ms: number, now: number): string {
  const text = toKubernetesTime(Math.ceil(ms / minuteMs) * minuteMs).slice(0, '2026-11-26T12:40'.length);
  return `${ms - now < dayMs ? text.slice('2026-11-26T'.length) : text}Z`;
}

/** Returns a Go duration: `2h`, `1h35m` or `35m`. */
function durationOf(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return `${hours === 0 ? '' : `${hours}h`}${rest === 0 ? '' : `${rest}m`}`;
}
