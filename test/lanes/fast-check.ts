import * as original from 'fast-check';
import type { IAsyncPropertyWithHooks, IProperty, Parameters, RunDetails } from 'fast-check';
import { runs } from '../../src/base/testing/runs.ts';

// vitest.config.ts replaces fast-check by this module, so that each property tries as many examples as its lane requires.
export * from 'fast-check';

type Property<T> = IProperty<T> & IAsyncPropertyWithHooks<T>;

function inLane<T>(parameters: Parameters<T> = {}): Parameters<T> {
  return { ...parameters, numRuns: runs(parameters.numRuns ?? 100) };
}

export function assert<T>(property: Property<T>, parameters?: Parameters<T>): Promise<void> {
  return original.assert(property, inLane(parameters));
}

export function check<T>(property: Property<T>, parameters?: Parameters<T>): Promise<RunDetails<T>> {
  return original.check(property, inLane(parameters));
}

export default { ...original.default, assert, check };
