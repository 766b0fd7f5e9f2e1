import type { Transport } from '../../../src/client/transport.ts';
import { startPodGroupController } from '../../../src/controller/start-pod-group-controller.ts';
import type { Logger } from '../../../src/observability/logger.ts';
import { createMetricRegistry } from '../../../src/observability/metric-registry.ts';
import type { SimulatedProcess } from './process.ts';
import { connect, schedulerNames, standForLease } from './start-scheduler.ts';

/** Starts the controller as src/compose/controller.ts does, without its HTTP endpoints. */
export function startController(
  process: SimulatedProcess,
  options: {
    readonly elects: boolean;
    readonly transport: Transport;
    readonly logger: Logger;
    readonly lost: () => void;
  },
): void {
  const { clock, random } = process;
  const { transport, logger, elects, lost } = options;
  const connection = connect(transport, clock, { qps: 20, burst: 30, elects });
  const candidacy = standForLease(connection, process, { lease: 'tutti-controller', logger, lost });
  startPodGroupController({
    client: connection.client,
    clock,
    random,
    logger,
    registry: createMetricRegistry({ processMetrics: false }),
    events: { record: () => undefined },
    schedulerNames,
    ...(candidacy !== undefined && { candidacy }),
  });
}
