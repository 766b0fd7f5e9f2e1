/**
 * The process that embedded-target.ts sends requests to: an embedded API server on a free port, which reports measurements to its parent.
 */
import process from 'node:process';
import { seededRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { EmbeddedApiServer } from '../../src/plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../../src/plane/apiserver/listen-http.ts';

/** The response of this process to any message of its parent. */
export interface ServerMeasures {
  /** After a garbage collection. */
  readonly heapBytes: number;
  /** Number of stored objects. */
  readonly objects: number;
  /** Maximum processor time between two checks of the event loop since the last message. */
  readonly longestTurnMs: number;
}

const lookMs = 20;
// Small, so that a short run fills it and further growth shows.
const historyLimitBytes = 256 * 1024;

let objects = 0;
const server = new EmbeddedApiServer({
  clock: systemClock,
  random: seededRandom(1),
  historyLimitBytes,
  onChange: (_collection, { type }) => {
    if (type === 'ADDED') objects++;
    else if (type === 'DELETED') objects--;
  },
});
const listener = await listenHttp(server, 0);

let longestTurnMs = 0;
let last = process.cpuUsage();
setInterval(() => {
  const { user, system } = process.cpuUsage(last);
  longestTurnMs = Math.max(longestTurnMs, (user + system) / 1000);
  last = process.cpuUsage();
}, lookMs);

process.on('message', () => {
  const measured = longestTurnMs;
  globalThis.gc?.();
  const measures: ServerMeasures = { heapBytes: process.memoryUsage().heapUsed, objects, longestTurnMs: measured };
  longestTurnMs = 0;
  last = process.cpuUsage();
  process.send?.(measures);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: listener.port });
