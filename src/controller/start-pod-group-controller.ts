import { parseGroupKey } from '../api/group-key.ts';
import { podGroupPath, projectPodGroup } from '../api/pod-group.ts';
import type { PodGroup } from '../api/pod-group.ts';
import { nativeVersions } from '../api/native-pod-group.ts';
import type { NativePodGroup } from '../api/native-pod-group.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { LeaderElector } from '../client/leader-elector.ts';
import type { InformerHandler } from '../informer/informer-handler.ts';
import { logReflectorProblem } from '../informer/log-reflector-problem.ts';
import type { ReflectorProblem } from '../informer/reflector-problem.ts';
import { registerCacheAge } from '../informer/cache-age.ts';
import { NativePodGroupReflector } from '../informer/native-pod-group-reflector.ts';
import { Reflector } from '../informer/reflector.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { isSameMemberPod, projectMemberPod } from './member-pod.ts';
import type { MemberPod } from './member-pod.ts';
import { PodGroupControllerMetrics } from './pod-group-controller-metrics.ts';
import { NativeConditionClient } from './native/native-condition-client.ts';
import { NativeStatusController } from './native/native-status-controller.ts';
import { MislabeledWorkloads } from './mislabeled-workloads.ts';
import { PodGroupController } from './pod-group-controller.ts';
import type { EventSink } from './pod-group-controller.ts';
import { PodGroupStatusClient } from './pod-group-status-client.ts';

/** As that of `tutti scheduler`. */
export const defaultSchedulerNames: readonly string[] = ['tutti'];

export interface StartPodGroupControllerOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch' | 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Not shared with another controller: metric names would clash. */
  readonly registry: MetricRegistry;
  readonly events: EventSink;
  /** As in NativeStatusControllerOptions. Default: tutti. Empty: it does not watch PodGroups of `scheduling.k8s.io`. */
  readonly schedulerNames?: readonly string[] | undefined;
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
 * Watches all PodGroups, also those of `scheduling.k8s.io` if the server has them, and all pods (the server cannot select membership by
 * annotation). Runs the controllers of both kinds of groups until it is stopped. It logs an unreachable server and retries. Only one
 * instance per cluster may write at a time.
 */
export function startPodGroupController(options: StartPodGroupControllerOptions): RunningPodGroupController {
  const { client, clock, random, logger, registry, events, workers, settleMs, maxRepairGraceMs } = options;
  const { schedulerNames = defaultSchedulerNames } = options;
  const pace = { ...(workers !== undefined && { workers }), ...(settleMs !== undefined && { settleMs }) };
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
    ...pace,
  });
  const nativeStatus: NativeStatusController = new NativeStatusController({
    lookup: {
      groups: () => nativeGroups.store.values(),
      group(key) {
        const { namespace, name } = parseGroupKey(key);
        return nativeGroups.version === undefined ? undefined : nativeGroups.store.get(`${namespace}/${name}`);
      },
      membersOf: (key) => pods.store.byIndex('nativeGroup', key),
    },
    writer: new NativeConditionClient(client, () => nativeGroups.version ?? nativeVersions[0]),
    schedulerNames: new Set(schedulerNames),
    ...{ clock, random, logger, metrics },
    ...pace,
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
  const nativeGroups = new NativePodGroupReflector<NativePodGroup>({
    ...{ client, clock, random, logger },
    project: (group) => group,
    handler: nativeStatus.groupHandler,
  });
  const pods = new Reflector<MemberPod>({
    client,
    clock,
    random,
    onProblem,
    path: '/api/v1/pods',
    project: projectMemberPod,
    isSame: isSameMemberPod,
    handler: both(controller.memberHandler, nativeStatus.memberHandler),
    indexers: {
      group: ({ groupKey }) => (groupKey === undefined ? [] : [groupKey]),
      nativeGroup: ({ nativeGroupKey }) => (nativeGroupKey === undefined ? [] : [nativeGroupKey]),
      lookAlike: ({ namespace, lookAlikes }) => lookAlikes.map(({ name }) => `${namespace}/${name}`),
    },
  });
  const natives = schedulerNames.length > 0 ? [nativeGroups] : [];
  const reflectors = [groups, pods, ...natives];
  registerCacheAge(registry, {
    ...{ pods, podgroups: groups },
    ...Object.fromEntries(natives.map((reflector) => ['podgroups.scheduling.k8s.io', reflector])),
  });
  const { candidacy } = options;
  const begin = async (): Promise<void> => {
    const leads = candidacy === undefined || (await candidacy.tried());
    for (const reflector of reflectors) reflector.start();
    if (!leads) await candidacy.elected();
    // A first list after the election is already current.
    const isCurrent = (reflector: Pick<typeof pods, 'catchUp'>): Promise<void> =>
      leads ? Promise.resolve() : reflector.catchUp();
    const membersAreCurrent = isCurrent(pods);
    await Promise.all([
      Promise.all([membersAreCurrent, isCurrent(groups)]).then(() => controller.start()),
      Promise.all([membersAreCurrent, ...natives.map(isCurrent)]).then(() => nativeStatus.start()),
    ]);
  };
  // Rejects only if it is stopped first.
  begin().catch((error: unknown) => logger.debug('not started', { error }));
  return {
    state(): true | string {
      if (!groups.hasSynced) return 'PodGroups have not been listed yet';
      if (natives.some(({ hasSynced }) => !hasSynced)) return 'PodGroups of scheduling.k8s.io have not been listed yet';
      return pods.hasSynced || 'pods have not been listed yet';
    },
    async synced(): Promise<void> {
      const nativeSynced = natives.map((reflector) => reflector.synced());
      await Promise.all([Promise.race([groups.synced(), groupsAbsent.promise]), pods.synced(), ...nativeSynced]);
    },
    async stop(): Promise<void> {
      const reflectorsStopped = reflectors.map((reflector) => reflector.stop());
      await Promise.all([...reflectorsStopped, workloads.stop(), controller.stop(), nativeStatus.stop()]);
    },
  };
}

/** Returns a handler that calls both, in order. */
function both(a: InformerHandler<MemberPod>, b: InformerHandler<MemberPod>): InformerHandler<MemberPod> {
  return {
    onAdd: (pod) => [a, b].forEach((handler) => handler.onAdd(pod)),
    onUpdate: (previous, pod) => [a, b].forEach((handler) => handler.onUpdate(previous, pod)),
    onDelete: (last, isFinalStateUnknown) => [a, b].forEach((handler) => handler.onDelete(last, isFinalStateUnknown)),
    onSynced: () => [a, b].forEach((handler) => handler.onSynced?.()),
    onListing: () => [a, b].forEach((handler) => handler.onListing?.()),
    onReplaced: () => [a, b].forEach((handler) => handler.onReplaced?.()),
  };
}
