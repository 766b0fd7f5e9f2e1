import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * Returns an identity that no other process has or had. In containers every process has the same id, and a restarted pod keeps
 * its name.
 */
export function processIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}
