import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that Linux, and every other system, gives to connections and to servers that ask for any port: nobody is given these. */
const from = 12_000;
const to = 32_000;

/**
 * Different ports of the loopback that were free a moment ago, drawn from thousands that nobody gets unasked; somebody who asks for one may
 * take it before it is used.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(from, to);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
