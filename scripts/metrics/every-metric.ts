import { seededRandom } from '../../src/base/random.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import { MeasuredTransport } from '../../src/client/measured-transport.ts';
import type { Transport } from '../../src/client/transport.ts';
import { leadershipGauge } from '../../src/compose/candidacy.ts';
import { countDroppedEvents } from '../../src/compose/dropped-events.ts';
import { processRegistry } from '../../src/compose/process-registry.ts';
import { watchServedSchema } from '../../src/compose/watch-served-schema.ts';
import { startPodGroupController } from '../../src/controller/start-pod-group-controller.ts';
import { LoopStalls } from '../../src/observability/loop-stalls.ts';
import type { MetricRegistry } from '../../src/observability/metric-registry.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../../src/plugins/registry.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';

/** The definition of a metric, whether or not it has a value yet. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
  /** Upper bounds of a histogram. Empty for other types. */
  readonly buckets: readonly number[];
}

/** process -> metrics that it exports, in order, without `nodejs_*` and `process_*`. */
export interface EveryMetric {
  readonly scheduler: readonly MetricDefinition[];
  readonly controller: readonly MetricDefinition[];
}

const never = (): Promise<never> => new Promise<never>(() => undefined);

/** Returns the metrics that the parts of both processes register. Opens no connection and leaves nothing running. */
export function everyMetric(): EveryMetric {
  return { scheduler: definitionsOf(schedulerRegistry()), controller: definitionsOf(controllerRegistry()) };
}

function schedulerRegistry(): MetricRegistry {
  const { registry, parts } = process();
  const { client, ...rest } = parts;
  countDroppedEvents(registry, { dropped: 0 });
  new Scheduler({
    ...rest,
    client,
    ports: {
      binder: { bind: never },
      verdicts: { write: never },
      events: { record: () => undefined },
      evictor: { mark: never, unmark: never, evict: never, release: never },
      volumes: { bind: never, provision: never },
    },
    profiles: [{ schedulerName: 'tutti', plugins: defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight })) }],
    plugins: pluginRegistry,
    identity: 'metrics-page',
    defer: () => undefined,
  });
  return registry;
}

function controllerRegistry(): MetricRegistry {
  const { registry, parts } = process();
  countDroppedEvents(registry, { dropped: 0 });
  void startPodGroupController({ ...parts, events: { record: () => undefined }, workers: 1 }).stop();
  return registry;
}

function process() {
  const clock = new VirtualClock();
  const registry = processRegistry();
  const transport: Transport = { send: never, close: () => Promise.resolve() };
  new MeasuredTransport({ transport, clock, registry, server: 'http://127.0.0.1' });
  const client = { get: never, list: never, watch: never, patch: never } as unknown as KubeClient;
  void watchServedSchema({ client, clock, logger: silentLogger, registry }).stop();
  new LoopStalls({ registry, clock }).stop();
  leadershipGauge(registry);
  return { registry, parts: { client, clock, registry, random: seededRandom(1), logger: silentLogger } };
}

/** A metric object of the registry. Its public type hides some of these fields. */
interface Registered {
  readonly name: string;
  readonly help: string;
  readonly type?: string;
  readonly labelNames?: readonly string[];
  readonly buckets?: readonly number[];
  readonly constructor: { readonly name: string };
}

function definitionsOf(registry: MetricRegistry): readonly MetricDefinition[] {
  return (registry.getMetricsAsArray() as unknown as readonly Registered[])
    .filter(({ name }) => !/^(process|nodejs)_/.test(name))
    .map(({ name, help, type, labelNames = [], buckets = [], constructor }) => ({
      name,
      help,
      type: type ?? constructor.name.toLowerCase(),
      labelNames,
      buckets,
    }));
}
