import process from 'node:process';

/**
 * Returns the number of examples of a property, or of expected cases: `full` in `npm run test:properties`, a tenth of it
 * elsewhere. `fc.assert` and `fc.check` apply it themselves; loops over seeds call it.
 */
export function runs(full: number): number {
  return process.env.TUTTI_PROPERTY_RUNS === 'full' ? full : Math.ceil(full / 10);
}
