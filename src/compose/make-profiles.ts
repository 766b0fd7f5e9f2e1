import { systemClock } from '../base/system-clock.ts';
import type { SchedulerConfiguration } from '../config/scheduler-configuration.ts';
import type { Profile } from '../framework/profile.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { SchedulerCore } from '../scheduler/scheduler-core.ts';
import { registryWith } from './own-plugins.ts';

/**
 * The profiles as a scheduler would have them, of one that is never begun and has no cluster: makes every plugin that they enable.
 * Throws ProfileError.
 */
export function makeProfiles({ profiles }: SchedulerConfiguration, own: readonly OwnPlugin[]): readonly Profile[] {
  const nowhere = (): Promise<never> => Promise.reject(new Error('there is no cluster'));
  const core = new SchedulerCore({
    profiles,
    plugins: registryWith(own),
    ports: {
      binder: { bind: nowhere },
      verdicts: { write: nowhere },
      events: { record: () => undefined },
      evictor: { evict: nowhere, release: nowhere },
      volumes: { bind: nowhere, provision: nowhere },
    },
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    registry: createMetricRegistry({ processMetrics: false }),
    identity: '',
    onReady: () => undefined,
  });
  return core.profiles.all;
}
