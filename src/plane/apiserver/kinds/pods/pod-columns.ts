import type { JsonObject } from '../../json.ts';
import { metadataOf, objectAt, objectsAt, textAt } from '../access.ts';
import { fieldColumn, textColumn } from '../column.ts';
import type { Column } from '../column.ts';

/** The columns between the name and the age. */
export const podColumns: readonly Column[] = [
  textColumn('Ready', (pod) => {
    const { ready, total } = readiness(pod);
    return `${ready}/${total}`;
  }),
  textColumn('Status', podStatus),
  textColumn('Restarts', restarts),
];

/** The columns after the age. */
export const lastPodColumns: readonly Column[] = [
  fieldColumn('IP', 'status.podIP', '<none>', 'wide'),
  fieldColumn('Node', 'spec.nodeName', '<none>', 'wide'),
  fieldColumn('Nominated Node', 'status.nominatedNodeName', '<none>', 'wide'),
];

function readiness(pod: JsonObject): { ready: number; total: number } {
  const spec = objectAt(pod, 'spec');
  const status = objectAt(pod, 'status');
  const sidecars = objectsAt(spec, 'initContainers').filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = new Set(sidecars.map((container) => container.name));
  const statuses = [
    ...objectsAt(status, 'containerStatuses'),
    ...objectsAt(status, 'initContainerStatuses').filter((each) => names.has(each.name ?? '')),
  ];
  const ready = statuses.filter((each) => each.ready === true).length;
  return { ready, total: objectsAt(spec, 'containers').length + sidecars.length };
}

function restarts(pod: JsonObject): string {
  const statuses = objectsAt(objectAt(pod, 'status'), 'containerStatuses');
  return String(statuses.reduce((sum, each) => sum + Number(each.restartCount ?? 0), 0));
}

/**
 * Returns the Status cell: the phase or reason, unless the deletion, a scheduling gate or a container is more specific. Covers the states
 * of simulated pods: their init containers end together, before the pod runs.
 */
export function podStatus(pod: JsonObject): string {
  const status = objectAt(pod, 'status');
  const phase = textAt(status, 'phase');
  const hasEnded = phase === 'Succeeded' || phase === 'Failed';
  if (metadataOf(pod).deletionTimestamp !== undefined && !hasEnded) return 'Terminating';
  const isGated = objectsAt(status, 'conditions').some(({ reason }) => reason === 'SchedulingGated');
  if (isGated) return 'SchedulingGated';
  const initContainers = objectsAt(status, 'initContainerStatuses').length;
  if (phase === 'Pending' && initContainers > 0) return `Init:0/${initContainers}`;
  const reasons = objectsAt(status, 'containerStatuses').map((each) => {
    const state = objectAt(each, 'state');
    return textAt(objectAt(state, 'waiting') ?? objectAt(state, 'terminated'), 'reason');
  });
  return reasons.find((reason) => reason !== '') ?? (textAt(status, 'reason') || phase);
}
