import type { Subject } from '../api/explain/basis.ts';
import { segmentsOf } from '../api/timeline/segments.ts';
import type { TimelineEntity } from '../api/timeline/timeline-entity.ts';
import type { TimelineNode } from '../api/timeline/timeline-node.ts';
import type { Transition } from '../api/timeline/transition.ts';
import { nameOf } from './lane.ts';
import type { Lane } from './lane.ts';
import { stateStyles } from './state-style.ts';
import { clockTime } from './time-scale.ts';

/** Returns `2/4`: how many are bound of those that are needed. A pod has no counts. */
export function countsText({ counts }: Pick<TimelineEntity, 'counts'>): string {
  if (counts === undefined) return '';
  return `${counts.bound}/${counts.minMember ?? '?'}`;
}

/** Returns a duration in its two largest units: `1h 5m`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`;
}

/** Returns the state, and what it waits for: `ready, waiting for capacity`. */
export function stateText({ state, waitsFor }: Pick<TimelineEntity, 'state' | 'waitsFor'>): string {
  const { name } = stateStyles[state];
  if (waitsFor === undefined || (state !== 'Waiting' && state !== 'NotReady')) return name;
  return state === 'Waiting' ? `${name} for ${waitsFor}` : `${name}, waiting for ${waitsFor}`;
}

/** Returns what the lane shows at a time, and why. `time` undefined: now. */
export function whyText(lane: Lane, heldSince: number, now: number, time?: number): string {
  const { entity, name, transitions } = lane;
  const at = time ?? now;
  const last = transitions.findLast((transition) => transition.time <= at);
  const segment = segmentsOf(lane, heldSince, now).find(({ start, end }) => start <= at && at <= end);
  if (segment === undefined)
    return `${name}: ${at < entity.createdAt ? 'not created yet' : 'no record'} at ${clockTime(at)}`;
  const isNow = segment.end >= now;
  const state = isNow ? stateText(entity) : stateStyles[segment.state].name;
  const parts = [`${name}: ${state} for ${durationText(Math.min(segment.end, now) - segment.start)}`];
  const counts = isNow ? entity.counts : last?.counts;
  if (counts !== undefined) parts.push(`${counts.bound} bound of ${counts.minMember ?? 'an unknown number'} needed`);
  const rejected = transitions.findLast(
    ({ kind, time: from }) => kind === 'Rejected' && from >= segment.start && from <= at,
  );
  if (rejected !== undefined) parts.push(transitionText(rejected));
  else if (isNow && entity.reason !== undefined) parts.push(entity.reason);
  else if (last !== undefined && last.kind !== 'Rejected') parts.push(transitionText(last));
  return parts.join('; ');
}

const kindTexts: Readonly<Record<Transition['kind'], string>> = {
  Added: 'added',
  Changed: 'changed',
  Ready: 'ready',
  Rejected: 'no nodes found',
  Planned: 'planned',
  BindingFailed: 'binding taken back',
  Bound: 'pod bound',
  Started: 'started',
  Repaired: 'repaired',
  Terminating: 'pod terminating',
  Succeeded: 'pod succeeded',
  Failed: 'pod failed',
  Lost: 'member lost',
  Reserved: 'capacity reserved',
  ReservationEnded: 'reservation ended',
  Preempted: 'preempted',
  Released: 'bound members released',
  Removed: 'removed',
  Unknown: 'unknown change',
};

/** Returns what happened, without the time: `no nodes found (waits for capacity) ×7: 40 nodes have too little cpu`. */
export function transitionText({ kind, node, waitsFor, count, reason, by }: Transition): string {
  const of = node === undefined ? '' : ` on ${node}`;
  const wait = waitsFor === undefined ? '' : ` (waits for ${waitsFor})`;
  const times = count === undefined ? '' : ` ×${count}`;
  const beneficiary = by === undefined ? '' : ` for ${withoutPrefix(by)}`;
  return `${kindTexts[kind]}${of}${wait}${beneficiary}${times}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Returns an entity's key as a name, for one that is not in the timeline any more. */
function withoutPrefix(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/** Returns `cpu 12 of 16 used, 2 reserved`. */
export function scarcestText({ scarcest, resources }: TimelineNode): string {
  const amounts = scarcest === undefined ? undefined : resources[scarcest];
  if (amounts === undefined) return 'no resources';
  const { used, reserved, allocatable } = amounts;
  const kept = reserved > 0 ? `, ${amount(reserved)} reserved` : '';
  return `${scarcest} ${amount(used)} of ${amount(allocatable)} used${kept}`;
}

/** Returns an amount with a binary prefix if it is large, as memory is. */
export function amount(value: number): string {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'];
  let [rest, unit] = [value, 0];
  while (Math.abs(value) >= 10_240 && Math.abs(rest) >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${Number(rest.toFixed(rest < 10 ? 2 : 1))}${units[unit]!}`;
}

/** Returns the share of the scarcest resource that is neither used nor reserved. */
export function freeShare({ shares }: TimelineNode): number {
  return Math.max(0, 1 - shares.reduce((sum, { used, reserved }) => sum + used + reserved, 0));
}

/** Returns the command that prints the same explanation. */
export function kubectlCommand({ kind, source, namespace, name }: Subject): string {
  const prefix = kind === 'Pod' ? 'pod' : source === 'scheduling.k8s.io' ? `podgroup.${source}` : 'group';
  return `kubectl tutti why --namespace ${quoted(namespace)} ${quoted(`${prefix}/${name}`)}`;
}

/** Returns the word as a shell reads it. Names of Kubernetes need no quotes, but the page does not rely on what a server sends. */
function quoted(word: string): string {
  return /^[a-z0-9./-]+$/i.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns the name of an entity by its key. */
export function nameByKey(entities: ReadonlyMap<string, TimelineEntity>, key: string): string {
  const entity = entities.get(key);
  return entity === undefined ? withoutPrefix(key) : nameOf(entity);
}
