import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that operating systems assign to outgoing connections and to servers that request any port. */
const from = 12_000;
const to = 32_000;
/** Each of the test workers that run at the same time draws from its own part, because a port stays free for seconds after it was drawn. */
const parts = 16;

/** Ports that this process has drawn. */
const drawn = new Set<number>();

/**
 * Returns different loopback ports that were free a moment ago. They are drawn from thousands that the system never assigns, but a process
 * that asks for one explicitly may take it first.
 */
export async function freePorts(count: number): Promise<number[]> {
  const size = (to - from) / parts;
  const start = from + (Number(process.env.VITEST_POOL_ID ?? 0) % parts) * size;
  const ports: number[] = [];
  while (ports.length < count) {
    const port = start + randomInt(size);
    if (drawn.has(port)) continue;
    drawn.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
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
