import type { BackoffPolicy } from '../base/backoff.ts';
import type { EnabledPlugin, PointsConfiguration } from '../framework/enabled-plugin.ts';
import { defaultPlugins } from '../plugins/registry.ts';

/** One profile: the plugins for the pods that name this scheduler. */
export interface ProfileConfiguration {
  /** What pods say in spec.schedulerName. */
  readonly schedulerName: string;
  /** Enabled at all the points that they implement, in order, but for what `points` says. */
  readonly plugins: readonly EnabledPlugin[];
  /** What is different at single points. */
  readonly points?: PointsConfiguration;
}

export interface ClientConnectionConfiguration {
  /** Calls a second in the long run; 0 for no limit. */
  readonly qps: number;
  /** Calls at once. */
  readonly burst: number;
  /** A kubeconfig file, relative to where the process was started. Absent: found as kubectl finds one. */
  readonly kubeconfig?: string;
}

/** Durations are milliseconds. */
export interface LeaderElectionConfiguration {
  /** False: this process is the only one, and leads from the start. */
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceLock: string;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

/** Certificates and keys of calls to an extender: files, or what would be in them, which goes first. */
export interface ExtenderTlsConfiguration {
  /** The server's certificate is not verified. */
  readonly insecure: boolean;
  /** The name in the server's certificate, where it is not the host of the URL. */
  readonly serverName?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile?: string;
  /** PEM in base64, as the file has it. */
  readonly certData?: string;
  readonly keyData?: string;
  readonly caData?: string;
}

/** A process that is asked about nodes over HTTP. A verb that is absent is not asked. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string;
  readonly filterVerb?: string;
  readonly prioritizeVerb?: string;
  readonly preemptVerb?: string;
  readonly bindVerb?: string;
  /** Multiplies what prioritize answers; at least 1 where there is that verb. */
  readonly weight: number;
  readonly enableHttps: boolean;
  readonly tls?: ExtenderTlsConfiguration;
  readonly httpTimeoutMs: number;
  /** It knows the nodes, and is sent their names alone. */
  readonly nodeCacheCapable: boolean;
  /** Pods that request none of them are not sent to it; empty: all pods are. */
  readonly managedResources: readonly { readonly name: string; readonly ignoredByScheduler: boolean }[];
  /** Pods are scheduled without it when it fails. */
  readonly ignorable: boolean;
}

/** How a scheduler process is configured, in the words of a KubeSchedulerConfiguration. */
export interface SchedulerConfiguration {
  /** At least one, each with a schedulerName of its own. */
  readonly profiles: readonly ProfileConfiguration[];
  readonly clientConnection: ClientConnectionConfiguration;
  readonly leaderElection: LeaderElectionConfiguration;
  /** podInitialBackoffSeconds and podMaxBackoffSeconds. */
  readonly podBackoff: BackoffPolicy;
  readonly extenders: readonly ExtenderConfiguration[];
  readonly enableProfiling: boolean;
  readonly enableContentionProfiling: boolean;
  /** A process that is not the leader keeps no picture of the cluster. */
  readonly delayCacheUntilActive: boolean;
}

/** The plugins of a profile that says nothing about them. */
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

/** kube-scheduler's defaults for all that is not given; without profiles there is one, of Tutti's plugins, called `default-scheduler`. */
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
