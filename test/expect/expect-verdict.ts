import type { VerdictReason } from '../../src/api/verdict.ts';
import type { ClusterRecord } from './cluster-record.ts';
import { describePods } from './expect-bound.ts';
import { involvedKeyOf } from './watched.ts';
import type { WatchedEvent } from './watched.ts';
import { hangsMs } from '../planes/patience.ts';

/** The expected content of a Warning Event. */
interface ExpectedWarning {
  readonly reason: string;
  /** Parts of the message, each of which must match. */
  readonly says?: readonly (string | RegExp)[];
}

/** The expected content of a verdict. */
export interface ExpectedVerdict extends ExpectedWarning {
  readonly reason: VerdictReason;
}

/** Waits until each of these pods has the verdict in its PodScheduled condition. */
export async function expectVerdict(
  record: ClusterRecord,
  pods: readonly string[],
  expected: ExpectedVerdict,
  withinMs: number = hangsMs,
): Promise<void> {
  await record.until(`${pods.length} pods have the verdict ${describe(expected)}`, withinMs, () => {
    const others = pods.filter((key) => !carries(record, key, expected));
    return others.length === 0 ? undefined : describePods(record, others);
  });
}

/** Waits until each of these objects has a matching Warning Event. */
export async function expectWarning(
  record: ClusterRecord,
  objects: readonly string[],
  expected: ExpectedWarning,
  withinMs: number = hangsMs,
): Promise<void> {
  const warningsOf = (key: string): WatchedEvent[] =>
    [...record.events.current.values()].filter((event) => event.type === 'Warning' && involvedKeyOf(event) === key);
  const matches = ({ reason, message = '' }: WatchedEvent): boolean =>
    reason === expected.reason && contains(message, expected.says);
  await record.until(`a Warning ${describe(expected)} for ${objects.join(', ')}`, withinMs, () => {
    const others = objects.filter((key) => !warningsOf(key).some(matches));
    if (others.length === 0) return undefined;
    const found = others.flatMap(warningsOf).map(({ reason, message }) => `${reason}: ${message}`);
    return `none for ${others.join(', ')}; found: ${found.join('; ') || 'no Warning'}`;
  });
}

/** Reports whether this pod has the verdict in its PodScheduled condition now. */
export function carries(record: ClusterRecord, key: string, expected: ExpectedVerdict): boolean {
  const conditions = record.pods.current.get(key)?.status?.conditions;
  const condition = conditions?.find(({ type }) => type === 'PodScheduled');
  if (condition?.status !== 'False' || condition.reason !== expected.reason) return false;
  return contains(condition.message ?? '', expected.says);
}

function contains(message: string, parts: readonly (string | RegExp)[] = []): boolean {
  return parts.every((part) => (typeof part === 'string' ? message.includes(part) : part.test(message)));
}

function describe({ reason, says = [] }: ExpectedWarning): string {
  return [reason, ...says.map(String)].join(', ');
}
