import process from 'node:process';
import fc from 'fast-check';

/**
 * The suite tries the same examples each time, so that it fails by what was changed and not by luck. Others are looked for by
 * `npm run properties`, which names the seed.
 */
const { TUTTI_PROPERTY_SEED: seed = '1' } = process.env;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
