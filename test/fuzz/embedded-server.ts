/** The process that embedded-target.ts sends to: an embedded API server on a free port, which tells its parent how it fares. */
import process from 'node:process';
import { seededRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { EmbeddedApiServer } from '../../src/plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../../src/plane/apiserver/listen-http.ts';

/** What this process says, in answer to any message of its parent. */
export interface ServerMeasures {
  /** After a garbage collection. */
  readonly heapBytes: number;
  /** How many are stored. */
  readonly objects: number;
  /** The most processor time between two looks at the event loop since the last message. */
  readonly longestTurnMs: number;
}

const lookMs = 20;
// Small, so that a short run fills it and what grows beyond shows.
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
