import { isDeepStrictEqual } from 'node:util';
import type { ProfileError, ProfileProblem } from '../framework/profile-error.ts';
import { isObject } from '../plugins/argument-schema.ts';
import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import { ConfigurationDocument } from './configuration-document.ts';
import type { Position, ReportDiagnostic } from './configuration-document.ts';
import { ConfigurationError } from './configuration-error.ts';
import type { ConfigurationDiagnostic } from './configuration-error.ts';
import {
  configurationGroup,
  configurationKind,
  configurationVersions,
  configurationShapes,
} from './configuration-schema.ts';
import type { ConfigurationVersion } from './configuration-schema.ts';
import type { KnownPlugin, KnownPlugins } from './known-plugin.ts';
import { knownPlugins } from './known-plugin.ts';
import { placesOf } from './profile-diagnostics.ts';
import { fieldOf, filledTextOf, listOf, textOf, wholeNumberOf } from './raw-value.ts';
import { readExtenders } from './read-extenders.ts';
import { readLeaderElection } from './read-leader-election.ts';
import { checkPools, readReservations } from './read-reservations.ts';
import { readProfilePlugins } from './read-profile-plugins.ts';
import type { ProfilePluginsReading } from './read-profile-plugins.ts';
import { defaultConfiguration } from './scheduler-configuration.ts';
import type {
  ClientConnectionConfiguration,
  ProfileConfiguration,
  SchedulerConfiguration,
} from './scheduler-configuration.ts';

export interface ParsedConfiguration {
  readonly configuration: SchedulerConfiguration;
  /** Warnings about valid fields, in file order. */
  readonly warnings: readonly ConfigurationDiagnostic[];
  /** Converts an error from creating the profiles to an error about the file. */
  readonly errorOf: (error: ProfileError) => ConfigurationError;
}

/** The configuration of a file, with everything that is wrong with it. */
interface Reading extends ParsedConfiguration {
  readonly problems: readonly ConfigurationDiagnostic[];
}

/**
 * Parses and validates a KubeSchedulerConfiguration, and fills in kube-scheduler's defaults. `own` are plugins that it may enable
 * besides Tutti's. Throws ConfigurationError with all errors, and nothing else, for any text.
 */
export function parseConfiguration(file: string, text: string, own: readonly KnownPlugin[] = []): ParsedConfiguration {
  const { problems, ...parsed } = readConfiguration(file, text, own);
  if (problems.length > 0) throw new ConfigurationError(file, problems);
  return parsed;
}

/** Like `parseConfiguration`, but returns errors and warnings together. Never throws. */
export function readConfiguration(file: string, text: string, own: readonly KnownPlugin[] = []): Reading {
  const document = new ConfigurationDocument(text);
  const problems: ConfigurationDiagnostic[] = [];
  const warnings: ConfigurationDiagnostic[] = [];
  const addTo =
    (list: ConfigurationDiagnostic[]): ReportDiagnostic =>
    (path, diagnostic, at = path) =>
      list.push({ file, ...document.positionOf(at), path, text: diagnostic });
  const report = addTo(problems);
  const warn = addTo(warnings);
  document.reportErrors((path: FieldPath, problem: string, place: Position) =>
    problems.push({ file, ...place, path, text: problem }),
  );
  let configuration = defaultConfiguration();
  const version = document.isReadable ? versionOf(document.value, report, warn) : undefined;
  if (version !== undefined) {
    const { value, problems: invalid } = configurationShapes[version].check(document.value);
    for (const { path, problem } of invalid) report(path, problem);
    configuration = decode(value, version, { known: knownPlugins(own), report, warn });
  }
  // A field with an error needs no warning.
  const wrong = new Set(problems.map(({ path }) => JSON.stringify(path)));
  const schedulerNames = configuration.profiles.map(({ schedulerName }) => schedulerName);
  const diagnosticsOf = (problem: ProfileProblem): readonly ConfigurationDiagnostic[] =>
    placesOf(problem, document.value, schedulerNames).map((place) => ({
      file,
      ...document.positionOf(place.path),
      ...place,
    }));
  return {
    configuration,
    errorOf: (error) =>
      new ConfigurationError(file, error.problems.flatMap(diagnosticsOf).sort(inFileOrder), { cause: error }),
    warnings: warnings.filter(({ path }) => !wrong.has(JSON.stringify(path))).sort(inFileOrder),
    problems: problems.sort(inFileOrder),
  };
}

function inFileOrder(a: ConfigurationDiagnostic, b: ConfigurationDiagnostic): number {
  return a.line - b.line || a.column - b.column;
}

/** Returns the version of the file; undefined if it cannot be validated further. */
function versionOf(value: unknown, report: ReportDiagnostic, warn: ReportDiagnostic): ConfigurationVersion | undefined {
  if (!isObject(value)) {
    report([], `must be a ${configurationKind}, an object with apiVersion: ${configurationGroup}/v1`);
    return undefined;
  }
  const kind = fieldOf(value, 'kind') ?? undefined;
  const apiVersion = fieldOf(value, 'apiVersion') ?? undefined;
  const isKind = kind === configurationKind;
  const version = configurationVersions.find((each) => apiVersion === `${configurationGroup}/${each}`);
  const found = (given: unknown, right: string): string => {
    if (given === undefined) return `is missing; it must be ${right}`;
    return `must be ${right}, not ${typeof given === 'string' ? shortText(given) : 'a value of another type'}`;
  };
  if (version === undefined) report(['apiVersion'], found(apiVersion, `${configurationGroup}/v1`));
  if (!isKind) report(['kind'], found(kind, configurationKind));
  if (version !== undefined && version !== 'v1') {
    const weights =
      version === 'v1beta2'
        ? ', in which the weight of TaintToleration is 3 and that of NodeAffinity 2, instead of 1'
        : '';
    warn(['apiVersion'], `is deprecated: use ${configurationGroup}/v1${weights}`);
  }
  // For an object of another kind, every field would be reported as unknown.
  if (!isKind && kind !== undefined) return undefined;
  return version ?? 'v1';
}

interface Checks {
  readonly known: KnownPlugins;
  readonly report: ReportDiagnostic;
  readonly warn: ReportDiagnostic;
}

/** Applies the checks that the schema cannot express, and returns the configuration. It is only valid if nothing was reported. */
function decode(value: unknown, version: ConfigurationVersion, checks: Checks): SchedulerConfiguration {
  const { report, warn } = checks;
  const defaults = defaultConfiguration();
  const flag = (name: string, fallback: boolean): boolean => {
    const given = fieldOf(value, name);
    return typeof given === 'boolean' ? given : fallback;
  };
  warnAboutNoEffect(value, warn);
  const enableProfiling = flag('enableProfiling', true);
  return {
    profiles: readProfiles(fieldOf(value, 'profiles'), version, checks),
    clientConnection: readClientConnection(fieldOf(value, 'clientConnection'), warn),
    leaderElection: readLeaderElection(fieldOf(value, 'leaderElection'), report),
    podBackoff: readBackoff(value, report) ?? defaults.podBackoff,
    extenders: readExtenders(fieldOf(value, 'extenders'), report),
    enableProfiling,
    enableContentionProfiling: flag('enableContentionProfiling', enableProfiling),
    delayCacheUntilActive: flag('delayCacheUntilActive', false),
  };
}

/** Warns about fields that differ from Tutti's fixed behavior. */
function warnAboutNoEffect(value: unknown, warn: ReportDiagnostic): void {
  const parallelism = fieldOf(value, 'parallelism');
  if (parallelism !== undefined && parallelism !== 16)
    warn(['parallelism'], 'has no effect: a scheduling cycle runs on one thread');
  // 0 lets kube-scheduler choose; it is the default of the file, but not of a profile.
  warnAboutPercentages(value, [], 1, warn);
  for (const [index, profile] of listOf(fieldOf(value, 'profiles')).entries()) {
    warnAboutPercentages(profile, ['profiles', index], 0, warn);
  }
}

/** `min`: smaller percentages of nodes mean the default. */
function warnAboutPercentages(holder: unknown, path: FieldPath, min: number, warn: ReportDiagnostic): void {
  const nodes = fieldOf(holder, 'percentageOfNodesToScore');
  if (typeof nodes === 'number' && nodes >= min && nodes < 100) {
    warn([...path, 'percentageOfNodesToScore'], 'has no effect: Tutti considers every node');
  }
  if (fieldOf(holder, 'percentageOfPlacementsToScore') !== undefined) {
    warn([...path, 'percentageOfPlacementsToScore'], 'has no effect: Tutti plans a group as a whole');
  }
}

function readProfiles(value: unknown, version: ConfigurationVersion, checks: Checks): readonly ProfileConfiguration[] {
  const given = listOf(value);
  const list = given.length === 0 ? [{}] : given;
  /** schedulerName -> the first profile with it */
  const names = new Map<string, number>();
  const readings: ProfilePluginsReading[] = [];
  const profiles = list.map((profile, index) => {
    const path = ['profiles', index];
    const schedulerName = nameOf(profile, path, list.length === 1, checks.report);
    const first = names.get(schedulerName);
    if (first !== undefined && schedulerName !== '') {
      checks.report(
        [...path, 'schedulerName'],
        `must differ from profiles[${first}].schedulerName; both are ${shortText(schedulerName)}`,
      );
    } else {
      names.set(schedulerName, index);
    }
    const reading = readProfilePlugins(profile, path, version, checks);
    readings.push(reading);
    const { plugins, points } = reading;
    const reservations = readReservations(fieldOf(profile, 'reservations'), [...path, 'reservations'], checks.warn);
    return {
      schedulerName,
      plugins,
      ...(Object.keys(points).length > 0 && { points }),
      ...(reservations !== undefined && { reservations }),
    };
  });
  checkSorters(readings, checks.report);
  checkPools(profiles, checks.report);
  return profiles;
}

function nameOf(profile: unknown, path: FieldPath, isOnly: boolean, report: ReportDiagnostic): string {
  const given = fieldOf(profile, 'schedulerName');
  const name = filledTextOf(given);
  if (name !== undefined) return name;
  if (given === undefined && isOnly) return 'default-scheduler';
  const where = [...path, 'schedulerName'];
  if (given === undefined) report(where, 'is missing; with several profiles each needs a unique name');
  else if (textOf(given) !== undefined) report(where, 'must not be empty: pods select the profile by this name');
  return '';
}

/** Checks that all profiles sort the single queue in the same way. */
function checkSorters(readings: readonly ProfilePluginsReading[], report: ReportDiagnostic): void {
  const first = readings[0]?.sorter;
  if (first === undefined) return;
  for (const [index, { sorter }] of readings.entries()) {
    if (sorter === undefined) continue;
    const path = ['profiles', index, 'plugins', 'queueSort'];
    if (sorter.name !== first.name) {
      report(
        path,
        `must be the same in all profiles, because they share one queue: this profile uses ${sorter.name}, profiles[0] uses ${first.name}`,
      );
    } else if (!isDeepStrictEqual(sorter.args, first.args)) {
      report(
        ['profiles', index, 'pluginConfig'],
        `must set the same args for ${sorter.name} as profiles[0], because all profiles share one queue`,
      );
    }
  }
}

function readClientConnection(value: unknown, warn: ReportDiagnostic): ClientConnectionConfiguration {
  const defaults = defaultConfiguration().clientConnection;
  const kubeconfig = filledTextOf(fieldOf(value, 'kubeconfig'));
  const qps = fieldOf(value, 'qps');
  const burst = wholeNumberOf(fieldOf(value, 'burst'));
  const contentType = filledTextOf(fieldOf(value, 'contentType'));
  const isDefault = contentType === undefined || contentType === 'application/vnd.kubernetes.protobuf';
  if (!isDefault && contentType !== 'application/json') {
    warn(['clientConnection', 'contentType'], 'has no effect: Tutti uses JSON with the API server');
  }
  const accepted = filledTextOf(fieldOf(value, 'acceptContentTypes'));
  if (accepted !== undefined && !accepted.includes('json')) {
    warn(['clientConnection', 'acceptContentTypes'], 'has no effect: Tutti uses JSON with the API server');
  }
  return {
    // As in client-go: 0 means the default, a negative value no limit.
    qps: typeof qps !== 'number' || qps === 0 || Number.isNaN(qps) ? defaults.qps : Math.max(0, qps),
    burst: burst === undefined || burst === 0 ? defaults.burst : burst,
    ...(kubeconfig !== undefined && { kubeconfig }),
  };
}

function readBackoff(value: unknown, report: ReportDiagnostic): SchedulerConfiguration['podBackoff'] | undefined {
  const given = { initial: fieldOf(value, 'podInitialBackoffSeconds'), max: fieldOf(value, 'podMaxBackoffSeconds') };
  const initial = given.initial === undefined ? 1 : wholeNumberOf(given.initial);
  const max = given.max === undefined ? 10 : wholeNumberOf(given.max);
  if (initial === undefined || max === undefined || initial < 1 || max < 1) return undefined; // the schema reports these
  if (max < initial) {
    const text = `must be at least podInitialBackoffSeconds (${initial}), not ${max}`;
    const isDefault = given.max === undefined;
    report(['podMaxBackoffSeconds'], isDefault ? `${text} (the default)` : text, [
      isDefault ? 'podInitialBackoffSeconds' : 'podMaxBackoffSeconds',
    ]);
  }
  return { initialMs: initial * 1_000, maxMs: max * 1_000 };
}
