import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { TieBreaks } from '../cluster/tie-breaks.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { PluginRegistry } from '../framework/make-plugins.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import type { SchedulerPorts } from '../scheduler/ports.ts';
import { SchedulerCore } from '../scheduler/scheduler-core.ts';

export interface ReadOnlyCoreOptions {
  readonly profiles: readonly ProfileConfiguration[];
  readonly plugins: PluginRegistry;
  readonly backoff?: BackoffPolicy;
  readonly clock: Clock;
  readonly random: Random;
  /** See TieBreaks. */
  readonly ties?: TieBreaks | undefined;
}

/** Ports that reach no API server. Bindings, volumes and evictions fail; verdicts and Events go nowhere. */
function closedPorts(): SchedulerPorts {
  const refuse = (): Promise<never> =>
    Promise.reject(new Error('this core only reads: it writes nothing to a cluster'));
  return {
    binder: { bind: refuse },
    // Not `written`: the pod keeps the condition that it has.
    verdicts: { write: () => Promise.resolve('outdated') },
    events: { record: () => undefined },
    evictor: { mark: refuse, unmark: refuse, evict: refuse, release: refuse },
    volumes: { bind: refuse, provision: refuse },
  };
}

/** Creates a core that cannot write, for commands that answer from a copy of the cluster. It calls no extenders. Throws ProfileError. */
export function createReadOnlyCore({
  profiles,
  plugins,
  backoff,
  clock,
  random,
  ties,
}: ReadOnlyCoreOptions): SchedulerCore {
  return new SchedulerCore({
    profiles,
    plugins,
    ...(backoff !== undefined && { backoff }),
    ports: closedPorts(),
    clock,
    random,
    ties,
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    identity: '',
    defer: (callback) => void setImmediate(callback),
    onReady: () => undefined,
  });
}
