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

function restartableInit(container: JsonObject): boolean {
  return container.restartPolicy === 'Always';
}

function readiness(pod: JsonObject): { ready: number; total: number } {
  const spec = objectAt(pod, 'spec');
  const status = objectAt(pod, 'status');
  const sidecars = objectsAt(spec, 'initContainers').filter(restartableInit);
  const sidecarNames = new Set(sidecars.map((container) => container.name));
  const ready =
    objectsAt(status, 'containerStatuses').filter((container) => container.ready === true).length +
    objectsAt(status, 'initContainerStatuses').filter(
      (each) => each.ready === true && sidecarNames.has(each.name ?? ''),
    ).length;
  return { ready, total: objectsAt(spec, 'containers').length + sidecars.length };
}

function restarts(pod: JsonObject): string {
  const statuses = objectsAt(objectAt(pod, 'status'), 'containerStatuses');
  return String(statuses.reduce((sum, each) => sum + Number(each.restartCount ?? 0), 0));
}

/** Returns the Status cell: the phase or reason, unless a container, a scheduling gate or the deletion is more specific. */
export function podStatus(pod: JsonObject): string {
  const spec = objectAt(pod, 'spec');
  const status = objectAt(pod, 'status');
  let word = textAt(status, 'reason') || textAt(status, 'phase');
  const scheduled = objectsAt(status, 'conditions').find((condition) => condition.type === 'PodScheduled');
  if (textAt(scheduled, 'reason') === 'SchedulingGated') word = 'SchedulingGated';

  const init = initStatus(spec, status);
  if (init !== undefined) word = init;
  else word = containersWord(status) ?? word;

  if (metadataOf(pod).deletionTimestamp !== undefined) {
    if (textAt(status, 'reason') === 'NodeLost') return 'Unknown';
    const phase = textAt(status, 'phase');
    return phase === 'Succeeded' || phase === 'Failed' ? word : 'Terminating';
  }
  return word;
}

function initStatus(spec: JsonObject | undefined, status: JsonObject | undefined): string | undefined {
  const containers = objectsAt(spec, 'initContainers');
  const statuses = objectsAt(status, 'initContainerStatuses');
  for (const [index, each] of statuses.entries()) {
    const state = objectAt(each, 'state');
    const terminated = objectAt(state, 'terminated');
    const waiting = objectAt(state, 'waiting');
    if (terminated?.exitCode === 0) continue;
    const container = containers.find((candidate) => candidate.name === each.name);
    if (container !== undefined && restartableInit(container) && each.started === true) continue;
    if (terminated !== undefined) return `Init:${textAt(terminated, 'reason') || exitWord(terminated)}`;
    const reason = textAt(waiting, 'reason');
    if (reason !== '' && reason !== 'PodInitializing') return `Init:${reason}`;
    return `Init:${index}/${containers.length}`;
  }
  return undefined;
}

function containersWord(status: JsonObject | undefined): string | undefined {
  let word: string | undefined;
  let running = false;
  for (const each of objectsAt(status, 'containerStatuses').toReversed()) {
    const state = objectAt(each, 'state');
    const waiting = textAt(objectAt(state, 'waiting'), 'reason');
    const terminated = objectAt(state, 'terminated');
    if (waiting !== '') word = waiting;
    else if (terminated !== undefined) word = textAt(terminated, 'reason') || exitWord(terminated);
    else if (each.ready === true && objectAt(state, 'running') !== undefined) running = true;
  }
  if (word !== 'Completed' || !running) return word;
  const ready = objectsAt(status, 'conditions').find((condition) => condition.type === 'Ready');
  return ready?.status === 'True' ? 'Running' : 'NotReady';
}

function exitWord(terminated: JsonObject): string {
  const signal = Number(terminated.signal ?? 0);
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${Number(terminated.exitCode ?? 0)}`;
}
