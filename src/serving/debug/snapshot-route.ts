import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BusyError } from '../../scheduler/explain/explanations.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { snapshotText } from '../../scheduler/snapshot/snapshot-text.ts';
import type { SnapshotHeader } from '../../scheduler/snapshot/snapshot-text.ts';
import type { Route } from '../route.ts';

/** How long the text is written before other tasks get a turn. */
const sliceMs = 5;

const compress = promisify(gzip);

/**
 * Serves /debug/snapshot: what the scheduler knows, as a Snapshot of explain.tutti.dev/v1alpha1 in the form of a file. The scheduler copies its lists
 * and plans what waits in one step between two attempts; the text is written later, in short slices. One snapshot or explanation is made at a
 * time. Others get status 429.
 */
export function snapshotRoute(scheduler: Pick<Scheduler, 'takeSnapshot'>, header: SnapshotHeader): Route {
  return {
    path: '/debug/snapshot',
    isCostly: true,
    async answer(query) {
      if ([...query.keys()].length > 0) return { status: 400, text: 'unknown parameter: this path accepts none\n' };
      try {
        const pieces: Uint8Array[] = [];
        let until = performance.now() + sliceMs;
        for (const piece of snapshotText(await scheduler.takeSnapshot(), header)) {
          pieces.push(Buffer.from(piece));
          if (performance.now() < until) continue;
          await new Promise((resolve) => setImmediate(resolve));
          until = performance.now() + sliceMs;
        }
        const bytes = await compress(Buffer.concat(pieces));
        return { status: 200, type: 'application/gzip', text: '', bytes };
      } catch (error) {
        if (!(error instanceof BusyError)) throw error;
        return { status: 429, headers: { 'retry-after': '1' }, text: `${error.message}; try again\n` };
      }
    },
  };
}
