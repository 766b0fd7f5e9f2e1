import { stringify } from 'yaml';
import { formatDuration } from '../base/format-duration.ts';
import type { EnabledPlugin, PointPlugins } from '../framework/enabled-plugin.ts';
import { extensionPoints } from '../framework/extension-point.ts';
import { isObject } from '../plugins/argument-schema.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { configurationGroup, configurationKind } from './configuration-schema.ts';
import { defaultReservations } from './scheduler-configuration.ts';
import type {
  ExtenderConfiguration,
  ProfileConfiguration,
  ReservationsConfiguration,
  SchedulerConfiguration,
} from './scheduler-configuration.ts';

const apiVersion = `${configurationGroup}/v1`;

/**
 * Formats the whole configuration, with all defaults, as the YAML of a KubeSchedulerConfiguration. Parsing it returns the same
 * configuration.
 */
export function formatConfiguration(configuration: SchedulerConfiguration): string {
  // Equal fields are written out, not as an alias of the first.
  return stringify(configurationObject(configuration), { aliasDuplicateObjects: false });
}

/** Returns the object that `formatConfiguration` writes as YAML. */
export function configurationObject(configuration: SchedulerConfiguration): object {
  const { clientConnection, leaderElection, podBackoff } = configuration;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, ...election } = leaderElection;
  return {
    apiVersion,
    kind: configurationKind,
    clientConnection: {
      ...clientConnection,
      qps: clientConnection.qps === 0 ? -1 : clientConnection.qps, // 0 means the default
    },
    leaderElection: {
      ...election,
      leaseDuration: formatDuration(leaseDurationMs),
      renewDeadline: formatDuration(renewDeadlineMs),
      retryPeriod: formatDuration(retryPeriodMs),
    },
    podInitialBackoffSeconds: podBackoff.initialMs / 1_000,
    podMaxBackoffSeconds: podBackoff.maxMs / 1_000,
    enableProfiling: configuration.enableProfiling,
    enableContentionProfiling: configuration.enableContentionProfiling,
    delayCacheUntilActive: configuration.delayCacheUntilActive,
    profiles: configuration.profiles.map(formatProfile),
    extenders: configuration.extenders.map(formatExtender),
  };
}

function formatProfile({ schedulerName, plugins, points = {}, reservations }: ProfileConfiguration): object {
  const named = extensionPoints.flatMap((point) => {
    const here = points[point];
    return here === undefined ? [] : [[point, formatPoint(here)] as const];
  });
  return {
    schedulerName,
    plugins: {
      multiPoint: { enabled: plugins.map(formatPlugin), disabled: [{ name: '*' }] },
      ...Object.fromEntries(named),
    },
    pluginConfig: formatArguments([...plugins, ...extensionPoints.flatMap((point) => points[point]?.enabled ?? [])]),
    reservations: formatReservations(reservations),
  };
}

function formatReservations(given: ReservationsConfiguration | undefined): object {
  const { poolLabel, reserveAfterMs, drainAfterMs, overrunPenaltyMs } = given ?? defaultReservations;
  return {
    enabled: given !== undefined,
    ...(poolLabel !== undefined && { poolLabel }),
    reserveAfterSeconds: reserveAfterMs / 1_000,
    drainAfterSeconds: drainAfterMs / 1_000,
    overrunPenaltySeconds: overrunPenaltyMs / 1_000,
  };
}

function formatPoint({ enabled, disabled }: PointPlugins): object {
  return {
    ...(enabled !== undefined && { enabled: enabled.map(formatPlugin) }),
    ...(disabled !== undefined && { disabled: disabled.map((name) => ({ name })) }),
  };
}

function formatPlugin({ name, weight }: EnabledPlugin): object {
  const ours = defaultPlugins.find((plugin) => plugin.name === name);
  const mayScore = ours === undefined || ours.points.includes('score');
  return { name, ...(weight !== undefined && (mayScore || weight > 1) && { weight }) };
}

/** Returns the arguments of each plugin that has some, once. */
function formatArguments(plugins: readonly EnabledPlugin[]): readonly object[] {
  const names = new Set(plugins.map(({ name }) => name));
  return [...names].flatMap((name) => {
    const given = plugins.find((plugin) => plugin.name === name)?.args;
    const ours = defaultPlugins.find((plugin) => plugin.name === name);
    const args = given ?? ours?.arguments.read(undefined);
    if (args === undefined || (isObject(args) && given === undefined && Object.keys(args).length === 0)) return [];
    const isOurs = ours !== undefined && isObject(args);
    return [{ name, args: isOurs ? { apiVersion, kind: `${name}Args`, ...args } : args }];
  });
}

function formatExtender({ enableHttps, tls, httpTimeoutMs, ...extender }: ExtenderConfiguration): object {
  return {
    ...extender,
    enableHTTPS: enableHttps,
    ...(tls !== undefined && { tlsConfig: tls }),
    httpTimeout: formatDuration(httpTimeoutMs),
  };
}
