import { formatEventId } from '../../api/timeline/event-id.ts';
import type { TimelineDelta, TimelineGap } from '../../api/timeline/timeline-message.ts';
import type { SnapshotRows } from '../../scheduler/timeline/timeline-feed.ts';

/** Number of rows in one piece of a snapshot. */
const rowsPerPiece = 32;

/** Returns a message as a server-sent event. A gap has no id: a client that reconnects after it names what it received before. */
export function eventText(message: TimelineDelta | TimelineGap): string {
  const id = message.kind === 'gap' ? '' : `id: ${formatEventId(message)}\n`;
  return `event: ${message.kind}\n${id}data: ${JSON.stringify(message)}\n\n`;
}

/** Yields a snapshot as one server-sent event, in pieces. Line ends between its lines of data are white space in JSON. */
export function* snapshotEventPieces({ entities, nodes, transitions, ...rest }: SnapshotRows): Iterable<string> {
  const head = JSON.stringify({ kind: 'snapshot', ...rest });
  yield `event: snapshot\nid: ${formatEventId(rest)}\ndata: ${head.slice(0, -1)}`;
  for (const [name, rows] of Object.entries({ entities, nodes, transitions })) {
    yield `,"${name}":[\n`;
    let piece: string[] = [];
    let isFirst = true;
    for (const row of rows) {
      piece.push(`data: ${isFirst ? '' : ','}${JSON.stringify(row)}\n`);
      isFirst = false;
      if (piece.length < rowsPerPiece) continue;
      yield piece.join('');
      piece = [];
    }
    yield `${piece.join('')}data: ]`;
  }
  yield '}\n\n';
}
