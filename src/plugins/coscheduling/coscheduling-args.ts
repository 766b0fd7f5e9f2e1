import { Ajv } from 'ajv';

/** Arguments of the Coscheduling plugin, named as scheduler-plugins names them. */
export interface CoschedulingArgs {
  /** How long a member may wait on Permit when its PodGroup does not say; 0 means the default. */
  readonly permitWaitingTimeSeconds: number;
  /** Accepted for compatibility; a refused group backs off in the queue, longer with each failure. */
  readonly podGroupBackoffSeconds: number;
  /** Accepted for compatibility; it decided when a nearly complete group keeps its nodes, and here nothing is held. */
  readonly podGroupRejectPercentage: number;
}

export class CoschedulingArgsError extends Error {
  override readonly name = 'CoschedulingArgsError';
}

const defaults: CoschedulingArgs = {
  permitWaitingTimeSeconds: 60,
  podGroupBackoffSeconds: 0,
  podGroupRejectPercentage: 10,
};

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    // Every pluginConfig entry may carry these two.
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    permitWaitingTimeSeconds: { type: 'integer', minimum: 0 },
    podGroupBackoffSeconds: { type: 'integer', minimum: 0 },
    podGroupRejectPercentage: { type: 'integer', minimum: 0, maximum: 100 },
  },
} as const;

/** Fills in defaults. Throws CoschedulingArgsError that lists everything that is wrong. */
export function readCoschedulingArgs(raw: unknown): CoschedulingArgs {
  const given = raw ?? {};
  const validate = new Ajv({ allErrors: true }).compile(schema);
  if (validate(given)) {
    const { permitWaitingTimeSeconds, podGroupBackoffSeconds, podGroupRejectPercentage } = {
      ...defaults,
      ...(given as Partial<CoschedulingArgs>),
    };
    return { permitWaitingTimeSeconds, podGroupBackoffSeconds, podGroupRejectPercentage };
  }
  const problems = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = (params as { additionalProperty?: string }).additionalProperty;
    const path = `args${instancePath.replaceAll('/', '.')}`;
    return unknown === undefined ? `${path} ${message ?? 'is not valid'}` : `${path}: unknown field "${unknown}"`;
  });
  throw new CoschedulingArgsError(`Coscheduling: ${problems.join('; ')}`);
}
