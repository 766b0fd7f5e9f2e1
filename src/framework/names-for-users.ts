import { parseGroupKey } from '../api/group-key.ts';
import type { SchedulingEntity } from './scheduling-entity.ts';

/*
 * Conditions and Events are read by users who may see nothing outside their namespace. So a text on an object names other objects only if they
 * are in its own namespace, and it names no node on which none of the user's pods is.
 */

export function namespaceOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang'
    ? parseGroupKey(schedulingEntity.gang.key).namespace
    : schedulingEntity.pod.namespace;
}

/** Returns the entity's name for a text in `namespace`: `gang default/red`, `pod default/x`, or `a group of another namespace`. */
export function nameFor(namespace: string, schedulingEntity: SchedulingEntity): string {
  const { kind } = schedulingEntity;
  if (namespaceOf(schedulingEntity) !== namespace) return `a ${kind === 'gang' ? 'group' : 'pod'} of another namespace`;
  return kind === 'gang' ? `gang ${schedulingEntity.gang.key}` : `pod ${schedulingEntity.pod.key}`;
}

/** Returns a text of another component in which a node's name, as in `n1`, `node n1` or `node "n1"`, reads `a node`. */
export function withoutNodeNames(text: string, isNode: (name: string) => boolean): string {
  return text.replaceAll(mayNameNode, (part, _noun, _quote, name: string) => (isNode(name) ? 'a node' : part));
}

const mayNameNode = /(?<![A-Za-z0-9.-])(node )?("?)([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\2/g;
