import { Gauge } from 'prom-client';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
import { droppedStatusFields, servedSchemaPath } from '../api/served-pod-group-schema.ts';
import type { ServedDocument } from '../api/served-pod-group-schema.ts';
import type { Clock } from '../base/clock.ts';
import { NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { wait } from '../client/wait.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';

export interface ServedSchemaOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
}

export interface ServedSchemaWatch {
  /**
   * Returns the status fields that the CRD drops, such as `status.conditions`, from the last successful check. It waits for the
   * first check; empty if no check has succeeded.
   */
  droppedFields(): Promise<readonly string[]>;
  /** Stops the checks. Resolves when they have ended. */
  stop(): Promise<void>;
}

/** Interval until the next check: after a compatible result, and after an incompatible or unknown one. */
const compatibleMs = 10 * 60_000;
const retryMs = 60_000;

/**
 * Checks now and periodically whether the PodGroup CRD in the API server keeps the status that Tutti writes. A CRD of another
 * project or of an older version silently drops parts of it. It reports the result by a metric, in the log, and to callers; a condition on the PodGroup
 * would itself be dropped. It only needs permission to read the served schema. Never throws.
 */
export function watchServedSchema({ client, clock, logger, registry }: ServedSchemaOptions): ServedSchemaWatch {
  const { name: crd } = podGroupDefinition.metadata;
  const compatible = new Gauge({
    name: 'tutti_crd_compatible',
    help: 'Whether the CRD in the API server keeps all status fields that Tutti writes: 1 if it does, 0 if it drops some. Absent while that is unknown, or if there is no CRD.',
    labelNames: ['crd'],
    registers: [registry],
  });
  const stop = new AbortController();
  const { signal } = stop;
  const checked = Promise.withResolvers<void>();
  let known: readonly string[] = [];
  let reported = '';
  const check = async (): Promise<number> => {
    let dropped: readonly string[] | undefined;
    try {
      dropped = droppedStatusFields(await client.get<ServedDocument>(servedSchemaPath, { signal }));
    } catch (error) {
      if (signal.aborted) return 0;
      // The last result stays valid, unless the CRD no longer exists.
      if (!(error instanceof NotFoundError)) {
        logger.debug('cannot read the schema of PodGroups', { error });
        return retryMs;
      }
    }
    known = dropped ?? [];
    if (dropped === undefined) {
      compatible.reset();
      return retryMs;
    }
    compatible.set({ crd }, dropped.length === 0 ? 1 : 0);
    const fields = dropped.join(', ');
    if (fields !== reported && fields === '') logger.info('the PodGroup CRD now keeps all status fields', { crd });
    if (fields !== reported && fields !== '') {
      logger.error(
        "the PodGroup CRD in the cluster is outdated or not Tutti's, and drops status fields: groups are scheduled, but their status is incomplete; apply crds/",
        { crd, dropped: fields },
      );
    }
    reported = fields;
    return fields === '' ? compatibleMs : retryMs;
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const untilNext = await check();
      checked.resolve();
      await wait(clock, untilNext, signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    droppedFields: () => checked.promise.then(() => known),
    stop: async () => {
      stop.abort(new Error('stopped'));
      await running;
    },
  };
}
