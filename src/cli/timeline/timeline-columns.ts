import type { Subject } from '../../api/explain/basis.ts';
import type { TimelineItem } from '../../api/timeline/timeline-answer.ts';
import type { TimelineState } from '../../api/timeline/timeline-state.ts';
import { formatAge } from '../output/age.ts';
import type { Color } from '../output/color.ts';
import type { TableColumn } from '../output/table.ts';

const colors: Readonly<Partial<Record<TimelineState, Color>>> = {
  Partial: 'red',
  Failed: 'red',
  NotReady: 'yellow',
  Waiting: 'yellow',
  Degraded: 'magenta',
  Running: 'green',
  Finished: 'faint',
  Gone: 'faint',
  Unknown: 'faint',
};

/** Returns the columns of `tutti timeline`. `showsNamespace`: the list may have several. */
export function timelineColumns(showsNamespace: boolean): readonly TableColumn<TimelineItem>[] {
  return [
    { header: 'TIME', text: ({ time }) => time },
    ...(showsNamespace ? [{ header: 'NAMESPACE', text: ({ subject }: TimelineItem) => subject.namespace }] : []),
    { header: 'ENTITY', text: ({ subject }) => shownSubject(subject) },
    { header: 'EVENT', text: ({ event }) => event },
    { header: 'STATE', text: ({ state }) => state, color: ({ state }) => colors[state] },
    {
      header: 'BOUND/QUORUM/SIZE',
      text: ({ counts }) =>
        counts === undefined ? '' : `${counts.bound}/${counts.minMember ?? '?'}/${counts.members}`,
    },
    {
      header: 'WAITED',
      text: ({ waitedSeconds }) => (waitedSeconds === undefined ? '' : formatAge(waitedSeconds * 1_000)),
    },
    { header: 'DETAILS', text: (item) => detailsOf(item, showsNamespace) },
  ];
}

/** Returns `group/red`. A pod that is no longer known has only its uid. */
export function shownSubject({ kind, name, uid = '' }: Subject): string {
  return `${kind === 'Pod' ? 'pod' : 'group'}/${name === '' ? uid : name}`;
}

/** Returns `waits for capacity, 7 times until 2026-01-01T00:00:09.000Z: Insufficient cpu`. */
function detailsOf({ node, waitsFor, by, count, until, reason }: TimelineItem, showsNamespace: boolean): string {
  const parts = [
    ...(waitsFor === undefined ? [] : [`waits for ${waitsFor}`]),
    ...(node === undefined ? [] : [`on ${node}`]),
    ...(by === undefined ? [] : [`for ${showsNamespace ? `${by.namespace} ` : ''}${shownSubject(by)}`]),
    ...(count === undefined ? [] : [`${count} times until ${until ?? '?'}`]),
  ];
  return [parts.join(', '), reason ?? ''].filter((text) => text !== '').join(': ');
}
