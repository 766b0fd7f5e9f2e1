import type { VerdictReason } from '../../src/api/verdict.ts';
import type { ClusterRecord } from './cluster-record.ts';
import { describePods } from './expect-bound.ts';
import { hangsMs } from '../planes/patience.ts';

/** The expected content of a verdict. */
export interface ExpectedVerdict {
  readonly reason: VerdictReason;
  /** Parts of the message, each of which must match. */
  readonly says?: readonly (string | RegExp)[];
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

/** Waits until each of these pods has a matching Warning Event. */
export async function expectWarning(
  record: ClusterRecord,
  pods: readonly string[],
  expected: { readonly reason: string; readonly says?: readonly (string | RegExp)[] },
  withinMs: number = hangsMs,
): Promise<void> {
  const matches = (key: string): boolean =>
    [...record.events.current.values()].some(
      ({ type, reason, message = '', involvedObject }) =>
        type === 'Warning' &&
        reason === expected.reason &&
        `${involvedObject?.namespace}/${involvedObject?.name}` === key &&
        contains(message, expected.says),
    );
  await record.until(`an Event ${expected.reason} for ${pods.length} pods`, withinMs, () => {
    const others = pods.filter((key) => !matches(key));
    return others.length === 0 ? undefined : `none for ${describePods(record, others)}`;
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

function describe({ reason, says = [] }: ExpectedVerdict): string {
  return [reason, ...says.map(String)].join(', ');
}
