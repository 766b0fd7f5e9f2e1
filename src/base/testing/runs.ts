import process from 'node:process';

/**
 * How many of `full` examples a property tries, and as many of what it expects to have met: all in `npm run test:properties`, a tenth
 * elsewhere. `fc.assert` and `fc.check` ask for themselves; loops over seeds call it.
 */
export function runs(full: number): number {
  return process.env.TUTTI_PROPERTY_RUNS === 'full' ? full : Math.ceil(full / 10);
}
