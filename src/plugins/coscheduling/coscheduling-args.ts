import { PluginArguments } from '../plugin-arguments.ts';
import { pluginName } from './readiness.ts';

/** Arguments of the Coscheduling plugin, with the names of scheduler-plugins. */
export interface CoschedulingArgs {
  /** Longest time for which a member waits on Permit if its PodGroup sets none; 0 means the default. */
  readonly permitWaitingTimeSeconds: number;
  /** Accepted for compatibility. A rejected group backs off in the queue, longer with each failure. */
  readonly podGroupBackoffSeconds: number;
  /** Accepted for compatibility. In scheduler-plugins it decides when a nearly complete group keeps its nodes; Tutti keeps none. */
  readonly podGroupRejectPercentage: number;
}

export const coschedulingArguments = new PluginArguments(pluginName, {
  type: 'object',
  additionalProperties: false,
  properties: {
    permitWaitingTimeSeconds: { type: 'integer', minimum: 0, default: 60 },
    podGroupBackoffSeconds: { type: 'integer', minimum: 0, default: 0 },
    podGroupRejectPercentage: { type: 'integer', minimum: 0, maximum: 100, default: 10 },
  },
});

/** Reads the arguments and fills in defaults. Throws PluginArgumentsError. */
export function readCoschedulingArgs(args: unknown): CoschedulingArgs {
  return coschedulingArguments.read(args);
}
