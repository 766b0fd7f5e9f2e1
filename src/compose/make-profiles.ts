import { systemClock } from '../base/system-clock.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import type { Profile } from '../framework/profile.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { SchedulerCore } from '../scheduler/scheduler-core.ts';
import { registryWith } from './own-plugins.ts';

/**
 * Returns the profiles of a scheduler that is never started and has no cluster. It creates every plugin that they enable. Throws
 * ProfileError.
 */
export function makeProfiles({ profiles }: SchedulerConfiguration, own: readonly OwnPlugin[]): readonly Profile[] {
  const noCluster = (): Promise<never> => Promise.reject(new Error('there is no cluster'));
  const core = new SchedulerCore({
    profiles,
    plugins: registryWith(own),
    ports: {
      binder: { bind: noCluster },
      verdicts: { write: noCluster },
      events: { record: () => undefined },
      evictor: { mark: noCluster, unmark: noCluster, evict: noCluster, release: noCluster },
      volumes: { bind: noCluster, provision: noCluster },
    },
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    identity: '',
    defer: (callback) => void setImmediate(callback),
    onReady: () => undefined,
  });
  return core.profiles.all;
}
