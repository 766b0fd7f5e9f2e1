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
   * The status fields that are dropped, as of the last look that told; while none has, after the first one: none. Such as
   * `status.conditions`.
   */
  droppedFields(): Promise<readonly string[]>;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

/** How long until the next look: at what is right, at what is not, or is not known. */
const rightMs = 10 * 60_000;
const otherwiseMs = 60_000;

/**
 * Looks now, and again and again, whether the API server's definition of PodGroup keeps the status that Tutti writes: one that
 * another project left behind drops parts of it without a word. Says so by a metric and in the log, and to who asks; a condition on
 * PodGroups would itself be among what is dropped. Needs no more than the right to read what the server serves. Never throws.
 */
export function watchServedSchema({ client, clock, logger, registry }: ServedSchemaOptions): ServedSchemaWatch {
  const { name: crd } = podGroupDefinition.metadata;
  const compatible = new Gauge({
    name: 'tutti_crd_compatible',
    help: 'Whether the definition that the API server has keeps all of the status that Tutti writes: 1, or 0 when it drops some. Absent while that is not known, or there is no definition.',
    labelNames: ['crd'],
    registers: [registry],
  });
  const stop = new AbortController();
  const { signal } = stop;
  const looked = Promise.withResolvers<void>();
  let known: readonly string[] = [];
  let reported = '';
  const look = async (): Promise<number> => {
    let dropped: readonly string[] | undefined;
    try {
      dropped = droppedStatusFields(await client.get<ServedDocument>(servedSchemaPath, { signal }));
    } catch (error) {
      if (signal.aborted) return 0;
      // What was known before stands, unless there is nothing any more that it would be about.
      if (!(error instanceof NotFoundError)) {
        logger.debug('could not read the schema of PodGroups', { error });
        return otherwiseMs;
      }
    }
    known = dropped ?? [];
    if (dropped === undefined) {
      compatible.reset();
      return otherwiseMs;
    }
    compatible.set({ crd }, dropped.length === 0 ? 1 : 0);
    const fields = dropped.join(', ');
    if (fields !== reported && fields === '')
      logger.info('the definition of PodGroup keeps all status fields now', { crd });
    if (fields !== reported && fields !== '') {
      logger.error(
        'the definition of PodGroup in the cluster is not that of Tutti and drops status fields: groups are scheduled, but do not show how they are; apply crds/',
        { crd, dropped: fields },
      );
    }
    reported = fields;
    return fields === '' ? rightMs : otherwiseMs;
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const untilNext = await look();
      looked.resolve();
      await wait(clock, untilNext, signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    droppedFields: () => looked.promise.then(() => known),
    stop: async () => {
      stop.abort(new Error('stopped'));
      await running;
    },
  };
}
