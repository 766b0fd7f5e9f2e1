import type { Clock } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/base/random.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { Cluster } from '../../src/cluster/cluster.ts';
import type { PluginHandle, PodBinder, VolumeWriter } from '../../src/framework/plugin-handle.ts';
import { Status } from '../../src/framework/status.ts';
import { WaitingPods } from '../../src/framework/waiting-pods.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import type { Builders } from '../../src/testkit/builders/builders.ts';

/** Returns a plugin handle over a real cluster cache, empty unless given. It rejects Bindings unless a binder is given. */
export function pluginHandle(
  builders: Builders,
  options: {
    readonly schedulerName?: string;
    readonly cluster?: Cluster;
    readonly clock?: Clock;
    readonly binder?: PodBinder;
    readonly volumes?: VolumeWriter;
  } = {},
): PluginHandle & { readonly cluster: Cluster } {
  const clock = options.clock ?? new VirtualClock();
  return {
    schedulerName: options.schedulerName ?? 'default-scheduler',
    Status,
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    cluster: options.cluster ?? new Cluster(builders.resources),
    waitingPods: new WaitingPods(clock),
    binder: options.binder ?? { bind: () => Promise.reject(new Error('this test binds no pods')) },
    volumes: options.volumes ?? rejectingVolumes,
    dryRun: () => {
      throw new Error('this test runs no dry run');
    },
    activate: () => undefined,
    betweenAttempts: (change) => change(),
  };
}

const rejectingVolumes: VolumeWriter = {
  bind: () => Promise.reject(new Error('this test writes no volumes')),
  provision: () => Promise.reject(new Error('this test writes no volumes')),
};
