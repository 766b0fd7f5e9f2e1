import type { BackoffPolicy } from '../base/backoff.ts';
import type { EnabledPlugin, PointsConfiguration } from '../framework/enabled-plugin.ts';
import { defaultPlugins } from '../plugins/registry.ts';

/** Reservations with a predicted start. */
export interface ReservationsConfiguration {
  /** Key of the node label whose values are the pools. Absent: the cluster is one pool. */
  readonly poolLabel?: string;
  /** How long an entity waits before capacity is reserved for it. */
  readonly reserveAfterMs: number;
  /** How long it waits before nodes are drained for it although pods on them have no declared end. At least `reserveAfterMs`. */
  readonly drainAfterMs: number;
  /** How long the declarations of a pod's owner are ignored after a pod has run for longer than declared. */
  readonly overrunPenaltyMs: number;
}

/** A profile: the plugins for the pods that name this scheduler. */
export interface ProfileConfiguration {
  /** Name by which pods select this profile in spec.schedulerName. */
  readonly schedulerName: string;
  /** Plugins that are enabled at all their points, in order, except for the differences in `points`. */
  readonly plugins: readonly EnabledPlugin[];
  /** Differences at single points. */
  readonly points?: PointsConfiguration;
  /** Absent: no reservations with a predicted start. */
  readonly reservations?: ReservationsConfiguration;
}

export interface ClientConnectionConfiguration {
  /** Long-run calls per second; 0: no limit. */
  readonly qps: number;
  /** Burst of calls. */
  readonly burst: number;
  /** A kubeconfig file, relative to the working directory of the process. Absent: the defaults of kubectl. */
  readonly kubeconfig?: string;
}

/** Durations are in milliseconds. */
export interface LeaderElectionConfiguration {
  /** False: this process is the only one and always leads. */
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceLock: string;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

/** Certificates and keys for calls to an extender: files, or data, which takes precedence. */
export interface ExtenderTlsConfiguration {
  /** Do not verify the server's certificate. */
  readonly insecure: boolean;
  /** Name in the server's certificate, if it is not the host of the URL. */
  readonly serverName?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile?: string;
  /** PEM in base64, as in the configuration file. */
  readonly certData?: string;
  readonly keyData?: string;
  readonly caData?: string;
}

/** A process that Tutti calls over HTTP about nodes. A verb that is absent is not called. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string;
  readonly filterVerb?: string;
  readonly prioritizeVerb?: string;
  readonly preemptVerb?: string;
  readonly bindVerb?: string;
  /** Factor for the scores of prioritize; at least 1 if that verb is set. */
  readonly weight: number;
  readonly enableHttps: boolean;
  readonly tls?: ExtenderTlsConfiguration;
  readonly httpTimeoutMs: number;
  /** The extender caches nodes and receives only their names. */
  readonly nodeCacheCapable: boolean;
  /** Only pods that request one of these resources are sent to the extender; empty: all pods. */
  readonly managedResources: readonly { readonly name: string; readonly ignoredByScheduler: boolean }[];
  /** If the extender fails, pods are scheduled without it. */
  readonly ignorable: boolean;
}

/** Configuration of a scheduler process, named after the fields of KubeSchedulerConfiguration. */
export interface SchedulerConfiguration {
  /** At least one, each with a unique schedulerName. */
  readonly profiles: readonly ProfileConfiguration[];
  readonly clientConnection: ClientConnectionConfiguration;
  readonly leaderElection: LeaderElectionConfiguration;
  /** podInitialBackoffSeconds and podMaxBackoffSeconds. */
  readonly podBackoff: BackoffPolicy;
  readonly extenders: readonly ExtenderConfiguration[];
  readonly enableProfiling: boolean;
  readonly enableContentionProfiling: boolean;
  /** A process that is not the leader keeps no cluster cache. */
  readonly delayCacheUntilActive: boolean;
}

export const defaultReservations: ReservationsConfiguration = {
  reserveAfterMs: 60_000,
  drainAfterMs: 600_000,
  overrunPenaltyMs: 3_600_000,
};

/** Returns a profile with the default plugins. */
export function defaultProfile(schedulerName: string): ProfileConfiguration {
  return { schedulerName, plugins: defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight })) };
}

export const defaultLeaderElection: LeaderElectionConfiguration = {
  leaderElect: true,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  resourceLock: 'leases',
  resourceName: 'kube-scheduler',
  resourceNamespace: 'kube-system',
};

/** For a process that is the only one. */
export const noLeaderElection: LeaderElectionConfiguration = { ...defaultLeaderElection, leaderElect: false };

/**
 * Returns the configuration with kube-scheduler's defaults for missing fields. Without profiles it has one, named
 * `default-scheduler`, with Tutti's plugins.
 */
export function defaultConfiguration(given: Partial<SchedulerConfiguration> = {}): SchedulerConfiguration {
  return {
    profiles: [defaultProfile('default-scheduler')],
    clientConnection: { qps: 50, burst: 100 },
    leaderElection: defaultLeaderElection,
    podBackoff: { initialMs: 1_000, maxMs: 10_000 },
    extenders: [],
    enableProfiling: true,
    enableContentionProfiling: true,
    delayCacheUntilActive: false,
    ...given,
  };
}
