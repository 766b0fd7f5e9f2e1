import type { TimelineMessage } from './timeline-message.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The latest time of a Date, in milliseconds since the epoch. */
const maxTime = 8.64e15;
/** A server with more transitions is broken, and a client must not fill its memory for it. */
const maxCapacity = 1_000_000;

/**
 * Returns whether a message has the form of this version, as far as clients rely on it: a broken server must not break them. Unknown kinds of messages, and
 * words that a newer server may add, are accepted.
 */
export function hasKnownForm(message: unknown): message is TimelineMessage {
  if (!isObject(message) || !isText(message.kind)) return false;
  switch (message.kind) {
    case 'snapshot':
      return isFromServer(message) && isSnapshot(message);
    case 'delta':
      return isFromServer(message) && isDelta(message);
    case 'gap':
      return isFromServer(message) && isText(message.reason);
    default:
      return true;
  }
}

function isFromServer({ epoch, now }: Fields): boolean {
  return isText(epoch) && isTime(now);
}

function isSnapshot({ sequence, after = 0, heldSince, capacity, ...lists }: Fields): boolean {
  return (
    [sequence, after, capacity].every(isCount) &&
    Number(capacity) <= maxCapacity &&
    isTime(heldSince) &&
    hasLists(lists)
  );
}

function isDelta({ from, sequence, removedNodes, ...lists }: Fields): boolean {
  return [from, sequence].every(isCount) && isListOf(removedNodes, isText) && hasLists(lists);
}

function hasLists({ entities, nodes, transitions }: Fields): boolean {
  return isListOf(entities, isEntity) && isListOf(nodes, isNode) && isListOf(transitions, isTransition);
}

function isEntity(entity: unknown): boolean {
  if (!isObject(entity) || !isObject(entity.subject)) return false;
  const { key, state, counts, createdAt, waitsFor, reason, subject } = entity;
  return (
    [key, state, subject.kind, subject.namespace, subject.name].every(isText) &&
    [subject.source, subject.uid, waitsFor, reason].every(isTextOrAbsent) &&
    isTime(createdAt) &&
    hasCounts(counts)
  );
}

function isTransition(transition: unknown): boolean {
  if (!isObject(transition)) return false;
  const { sequence, time, until = time, count = 0, kind, entity, state, counts, ...texts } = transition;
  return (
    [sequence, count].every(isCount) &&
    [time, until].every(isTime) &&
    [kind, entity, state].every(isText) &&
    [texts.node, texts.waitsFor, texts.reason, texts.by].every(isTextOrAbsent) &&
    hasCounts(counts)
  );
}

function isNode(node: unknown): boolean {
  if (!isObject(node) || !isObject(node.resources)) return false;
  const { name, state, scarcest, shares, resources } = node;
  return (
    [name, state].every(isText) &&
    isTextOrAbsent(scarcest) &&
    Object.values(resources).every((amounts) => hasNumbers(amounts, ['allocatable', 'used', 'reserved'])) &&
    isListOf(shares, (share) => hasNumbers(share, ['used', 'reserved']) && isTextOrAbsent((share as Fields).entity))
  );
}

function hasCounts(counts: unknown): boolean {
  if (counts === undefined) return true;
  return (
    hasNumbers(counts, ['members', 'planned', 'bound']) &&
    ((counts as Fields).minMember === undefined || isNumber((counts as Fields).minMember))
  );
}

function hasNumbers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => isNumber(value[name]));
}

function isListOf(list: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isItem);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || isText(value);
}

/** JSON can contain numbers that are too large to be finite. */
function isNumber(value: unknown): boolean {
  return Number.isFinite(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isTime(value: unknown): boolean {
  return isNumber(value) && Number(value) >= 0 && Number(value) <= maxTime;
}
