import type { ClusterRecord } from './cluster-record.ts';
import type { WatchedPod } from './watched.ts';
import { hangsMs } from '../planes/patience.ts';

/** Waits until all of these pods (namespace/name) are bound. */
export async function expectBound(
  record: ClusterRecord,
  pods: readonly string[],
  withinMs: number = hangsMs,
): Promise<void> {
  await record.until(`${pods.length} pods are bound`, withinMs, () => {
    const waiting = pods.filter((key) => nodeOf(record, key) === undefined);
    return waiting.length === 0 ? undefined : `not bound: ${describePods(record, waiting)}`;
  });
}

/** Waits until exactly `count` of these pods are bound. Fails at once if more are. */
export async function expectCountBound(
  record: ClusterRecord,
  pods: readonly string[],
  count: number,
  withinMs: number = hangsMs,
): Promise<void> {
  await record.until(`${count} of ${pods.length} pods are bound`, withinMs, () => {
    const bound = pods.filter((key) => nodeOf(record, key) !== undefined).length;
    if (bound > count) throw new Error(`${bound} of ${pods.length} pods are bound, expected ${count}`);
    return bound === count ? undefined : `${bound} are bound`;
  });
}

/** Asserts that none of these pods was bound at any moment since the record was opened. */
export function expectNeverBound(record: ClusterRecord, pods: readonly string[]): void {
  const forbidden = new Set(pods);
  for (const { object } of record.pods.changes) {
    const { namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    const { nodeName = '' } = object.spec;
    if (forbidden.has(key) && nodeName !== '')
      throw new Error(`${key} was bound to ${nodeName} but must never be bound`);
  }
  for (const key of pods) if (!record.pods.current.has(key)) throw new Error(`pod ${key} does not exist`);
}

/** Returns the pod's node; undefined: it is not bound, or does not exist. */
export function nodeOf(record: ClusterRecord, key: string): string | undefined {
  return record.pods.current.get(key)?.spec.nodeName;
}

/** Describes the first few of these pods for messages. */
export function describePods(record: ClusterRecord, keys: readonly string[]): string {
  const shown = keys.slice(0, 3).map((key) => describePod(record, key));
  const more = keys.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** Describes a pod's phase and verdict for messages. */
function describePod(record: ClusterRecord, key: string): string {
  const pod: WatchedPod | undefined = record.pods.current.get(key);
  if (pod === undefined) return `${key} does not exist`;
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  const verdict =
    scheduled === undefined ? 'no verdict' : `${scheduled.reason ?? scheduled.status}: ${scheduled.message ?? ''}`;
  return `${key} (${pod.status?.phase ?? 'no phase'}, ${verdict})`;
}
