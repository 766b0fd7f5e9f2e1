import type { TimelineNode } from '../api/timeline/timeline-node.ts';

/** `node-10` comes after `node-9`. */
const byName = new Intl.Collator('en', { numeric: true });

/** Returns the nodes whose name or state contains the text, by name. */
export function nodesOf(nodes: ReadonlyMap<string, TimelineNode>, text: string): readonly TimelineNode[] {
  const wanted = text.trim().toLowerCase();
  return [...nodes.values()]
    .filter(({ name, state }) => `${name} ${state}`.toLowerCase().includes(wanted))
    .sort((a, b) => byName.compare(a.name, b.name));
}
