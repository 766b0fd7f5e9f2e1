import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** A name for this process that no other has or had: in a container every process has the same number, and a pod that starts again its old name. */
export function processIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}
