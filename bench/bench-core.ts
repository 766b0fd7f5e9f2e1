import type { Clock } from '../src/base/clock.ts';
import { seededRandom } from '../src/base/random.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { createMetricRegistry } from '../src/observability/metric-registry.ts';
import { silentLogger } from '../src/observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../src/plugins/registry.ts';
import type { SchedulerPorts } from '../src/scheduler/ports.ts';
import { SchedulerCore } from '../src/scheduler/scheduler-core.ts';
import type { SchedulerCoreOptions } from '../src/scheduler/scheduler-core.ts';

type BenchCoreOptions = Partial<Pick<SchedulerCoreOptions, 'profiles' | 'plugins'>> & {
  readonly ports?: Partial<SchedulerPorts>;
  readonly clock?: Clock | undefined;
};

const unanswered = (): Promise<never> => new Promise(() => undefined);
const unansweredPorts: SchedulerPorts = {
  binder: { bind: unanswered },
  verdicts: { write: unanswered },
  events: { record: () => undefined },
  evictor: { mark: unanswered, unmark: unanswered, evict: unanswered, release: unanswered },
  volumes: { bind: unanswered, provision: unanswered },
};

/** A SchedulerCore with the default plugins, whose writes never complete unless `ports` says otherwise. */
export function benchCore({
  profiles = [{ schedulerName: 'default-scheduler', plugins: defaultPlugins }],
  plugins = pluginRegistry,
  ports = {},
  clock = systemClock,
}: BenchCoreOptions = {}): SchedulerCore {
  return new SchedulerCore({
    profiles,
    plugins,
    ports: { ...unansweredPorts, ...ports },
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    identity: 'bench',
    defer: (callback) => void setImmediate(callback),
    onReady: () => undefined,
  });
}
