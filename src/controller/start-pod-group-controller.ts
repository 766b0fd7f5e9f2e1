import { podGroupPath, projectPodGroup } from '../api/pod-group.ts';
import type { PodGroup } from '../api/pod-group.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { LeaderElector } from '../client/leader-elector.ts';
import { logReflectorProblem } from '../informer/log-reflector-problem.ts';
import type { ReflectorProblem } from '../informer/reflector-problem.ts';
import { registerCacheAge } from '../informer/cache-age.ts';
import { Reflector } from '../informer/reflector.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { isSameMemberPod, projectMemberPod } from './member-pod.ts';
import type { MemberPod } from './member-pod.ts';
import { PodGroupControllerMetrics } from './pod-group-controller-metrics.ts';
import { MislabeledWorkloads } from './mislabeled-workloads.ts';
import { PodGroupController } from './pod-group-controller.ts';
import type { EventSink } from './pod-group-controller.ts';
import { PodGroupStatusClient } from './pod-group-status-client.ts';

export interface StartPodGroupControllerOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch' | 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Not shared with another controller: metric names would clash. */
  readonly registry: MetricRegistry;
  readonly events: EventSink;
  /** As in PodGroupControllerOptions. */
  readonly workers?: number;
  readonly maxRepairGraceMs?: number | undefined;
  readonly settleMs?: number;
  /** Leader election: the controller watches before it leads and writes only while it leads. Absent: it is the only instance. */
  readonly candidacy?: Pick<LeaderElector, 'tried' | 'elected'>;
}

export interface RunningPodGroupController {
  /** For a readiness check: true, or the reason why it is not ready. */
  state(): true | string;
  /** Resolves once pods and PodGroups are listed, or the API server has no PodGroups. Rejects if it is stopped first. */
  synced(): Promise<void>;
  /** Stops all writes. Resolves when calls and watches have ended. */
  stop(): Promise<void>;
}

/**
 * Watches all PodGroups and all pods (the server cannot select membership by annotation) and runs the controller until it is
 * stopped. It logs an unreachable server and retries. Only one instance per cluster may write at a time.
 */
export function startPodGroupController(options: StartPodGroupControllerOptions): RunningPodGroupController {
  const { client, clock, random, logger, registry, events, workers, settleMs, maxRepairGraceMs } = options;
  const onProblem = (problem: ReflectorProblem): void => logReflectorProblem(logger, problem);
  const groupsAbsent = deferred();
  const metrics = new PodGroupControllerMetrics(registry, () => groups.store.values());
  const workloads = new MislabeledWorkloads({
    ...{ client, clock, random, logger },
    metrics: metrics.queue,
    onChange: (groupKey) => controller.changed(groupKey),
  });
  const controller: PodGroupController = new PodGroupController({
    lookup: {
      groups: () => groups.store.values(),
      group: (key) => groups.store.get(key),
      membersOf: (key) => pods.store.byIndex('group', key),
      lookAlikesOf: (key) => pods.store.byIndex('lookAlike', key),
    },
    writer: new PodGroupStatusClient(client),
    clock,
    random,
    logger,
    metrics,
    workloads,
    events,
    maxRepairGraceMs,
    ...(workers === undefined ? {} : { workers }),
    ...(settleMs === undefined ? {} : { settleMs }),
  });
  const groups = new Reflector<PodGroup>({
    client,
    clock,
    random,
    onProblem: (problem) => {
      onProblem(problem);
      if (problem.kind === 'list' && problem.error instanceof NotFoundError) groupsAbsent.resolve();
    },
    path: podGroupPath(),
    project: projectPodGroup,
    handler: controller.groupHandler,
  });
  const pods = new Reflector<MemberPod>({
    client,
    clock,
    random,
    onProblem,
    path: '/api/v1/pods',
    project: projectMemberPod,
    isSame: isSameMemberPod,
    handler: controller.memberHandler,
    indexers: {
      group: (pod) => (pod.groupKey === undefined ? [] : [pod.groupKey]),
      lookAlike: ({ namespace, lookAlikes }) => lookAlikes.map(({ name }) => `${namespace}/${name}`),
    },
  });
  registerCacheAge(registry, { pods, podgroups: groups });
  const { candidacy } = options;
  const begin = async (): Promise<void> => {
    const leads = candidacy === undefined || (await candidacy.tried());
    groups.start();
    pods.start();
    // A first list after the election is already current.
    if (!leads) {
      await candidacy.elected();
      await Promise.all([groups.catchUp(), pods.catchUp()]);
    }
    controller.start();
  };
  // Rejects only if it is stopped first.
  begin().catch((error: unknown) => logger.debug('not started', { error }));
  return {
    state(): true | string {
      if (!groups.hasSynced) return 'PodGroups have not been listed yet';
      return pods.hasSynced || 'pods have not been listed yet';
    },
    async synced(): Promise<void> {
      await Promise.all([Promise.race([groups.synced(), groupsAbsent.promise]), pods.synced()]);
    },
    async stop(): Promise<void> {
      await Promise.all([groups.stop(), pods.stop(), workloads.stop(), controller.stop()]);
    },
  };
}
