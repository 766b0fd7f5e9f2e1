import { PluginArguments } from '../plugin-arguments.ts';
import { pluginName } from './readiness.ts';

/** Arguments of the Coscheduling plugin, named as scheduler-plugins names them. */
export interface CoschedulingArgs {
  /** How long a member may wait on Permit when its PodGroup does not say; 0 means the default. */
  readonly permitWaitingTimeSeconds: number;
  /** Accepted for compatibility; a rejected group backs off in the queue, longer with each failure. */
  readonly podGroupBackoffSeconds: number;
  /** Accepted for compatibility; it decided when a nearly complete group keeps its nodes, and here nothing is held. */
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

/** Fills in defaults. Throws PluginArgumentsError. */
export function readCoschedulingArgs(args: unknown): CoschedulingArgs {
  return coschedulingArguments.read(args);
}
