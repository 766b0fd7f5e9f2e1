import process from 'node:process';
import fc from 'fast-check';

/**
 * The suite tries the same examples each time, so that failures come from changes and not from chance. `npm run properties` looks for other
 * examples and prints the seed.
 */
const { TUTTI_PROPERTY_SEED: seed = '1' } = process.env;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
