import { isDeepStrictEqual } from 'node:util';
import type { ProfileError, ProfileProblem } from '../framework/profile-error.ts';
import { isObject } from '../plugins/argument-schema.ts';
import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import { ConfigurationDocument } from './configuration-document.ts';
import type { Position, ReportRemark } from './configuration-document.ts';
import { ConfigurationError } from './configuration-error.ts';
import type { ConfigurationRemark } from './configuration-error.ts';
import {
  configurationGroup,
  configurationKind,
  configurationVersions,
  configurationShapes,
} from './configuration-schema.ts';
import type { ConfigurationVersion } from './configuration-schema.ts';
import type { KnownPlugin, KnownPlugins } from './known-plugin.ts';
import { knownPlugins } from './known-plugin.ts';
import { placesOf } from './profile-remarks.ts';
import { fieldOf, filledTextOf, listOf, textOf, wholeNumberOf } from './raw-value.ts';
import { readExtenders } from './read-extenders.ts';
import { readLeaderElection } from './read-leader-election.ts';
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
  /** What a user should know though nothing is wrong, in the order of the file. */
  readonly warnings: readonly ConfigurationRemark[];
  /** What is wrong with the profiles that were made of it, as something that is wrong with the file. */
  readonly errorOf: (error: ProfileError) => ConfigurationError;
}

/** What is read of a file, and everything that is wrong with it. */
interface Reading extends ParsedConfiguration {
  readonly problems: readonly ConfigurationRemark[];
}

/**
 * Reads a KubeSchedulerConfiguration: checks it whole, and fills in kube-scheduler's defaults. `own` are plugins that it may name
 * besides Tutti's. Throws ConfigurationError with everything that is wrong, and nothing else, whatever the text is.
 */
export function parseConfiguration(file: string, text: string, own: readonly KnownPlugin[] = []): ParsedConfiguration {
  const { problems, ...parsed } = readConfiguration(file, text, own);
  if (problems.length > 0) throw new ConfigurationError(file, problems);
  return parsed;
}

/** The same, for who wants warnings beside the problems. Never throws. */
export function readConfiguration(file: string, text: string, own: readonly KnownPlugin[] = []): Reading {
  const document = new ConfigurationDocument(text);
  const problems: ConfigurationRemark[] = [];
  const warnings: ConfigurationRemark[] = [];
  const addTo =
    (list: ConfigurationRemark[]): ReportRemark =>
    (path, remark, at = path) =>
      list.push({ file, ...document.positionOf(at), path, text: remark });
  const report = addTo(problems);
  const warn = addTo(warnings);
  document.reportErrors((path: FieldPath, problem: string, place: Position) =>
    problems.push({ file, ...place, path, text: problem }),
  );
  let configuration = defaultConfiguration();
  const version = document.isReadable ? versionOf(document.value, report, warn) : undefined;
  if (version !== undefined) {
    const { value, problems: misshapen } = configurationShapes[version].check(document.value);
    for (const { path, problem } of misshapen) report(path, problem);
    configuration = decode(value, version, { known: knownPlugins(own), report, warn });
  }
  // What is wrong need not be warned of as well.
  const wrong = new Set(problems.map(({ path }) => JSON.stringify(path)));
  const schedulerNames = configuration.profiles.map(({ schedulerName }) => schedulerName);
  const remarksOf = (problem: ProfileProblem): readonly ConfigurationRemark[] =>
    placesOf(problem, document.value, schedulerNames).map((place) => ({
      file,
      ...document.positionOf(place.path),
      ...place,
    }));
  return {
    configuration,
    errorOf: (error) =>
      new ConfigurationError(file, error.problems.flatMap(remarksOf).sort(inFileOrder), { cause: error }),
    warnings: warnings.filter(({ path }) => !wrong.has(JSON.stringify(path))).sort(inFileOrder),
    problems: problems.sort(inFileOrder),
  };
}

function inFileOrder(a: ConfigurationRemark, b: ConfigurationRemark): number {
  return a.line - b.line || a.column - b.column;
}

/** Which version the file is of; undefined when it is nothing that could be checked further. */
function versionOf(value: unknown, report: ReportRemark, warn: ReportRemark): ConfigurationVersion | undefined {
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
    return `must be ${right}, not ${typeof given === 'string' ? shortText(given) : 'something else than text'}`;
  };
  if (version === undefined) report(['apiVersion'], found(apiVersion, `${configurationGroup}/v1`));
  if (!isKind) report(['kind'], found(kind, configurationKind));
  if (version !== undefined && version !== 'v1') {
    const weights =
      version === 'v1beta2' ? ', with which TaintToleration weighs 3 and NodeAffinity 2, where they weigh 1 here' : '';
    warn(['apiVersion'], `is deprecated: write ${configurationGroup}/v1${weights}`);
  }
  // Every field of another kind of object would be said to be unknown.
  if (!isKind && kind !== undefined) return undefined;
  return version ?? 'v1';
}

interface Checks {
  readonly known: KnownPlugins;
  readonly report: ReportRemark;
  readonly warn: ReportRemark;
}

/** Checks what the shape does not say, and makes the configuration, which is right if nothing was reported. */
function decode(value: unknown, version: ConfigurationVersion, checks: Checks): SchedulerConfiguration {
  const { report, warn } = checks;
  const defaults = defaultConfiguration();
  const flag = (name: string, otherwise: boolean): boolean => {
    const given = fieldOf(value, name);
    return typeof given === 'boolean' ? given : otherwise;
  };
  warnOfNoEffect(value, warn);
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

/** Of fields that say something else than what happens anyway. */
function warnOfNoEffect(value: unknown, warn: ReportRemark): void {
  const parallelism = fieldOf(value, 'parallelism');
  if (parallelism !== undefined && parallelism !== 16)
    warn(['parallelism'], 'has no effect: a cycle runs on one thread');
  // 0 lets kube-scheduler choose, and is the default of the file, not of a profile.
  warnOfPercentages(value, [], 1, warn);
  for (const [index, profile] of listOf(fieldOf(value, 'profiles')).entries()) {
    warnOfPercentages(profile, ['profiles', index], 0, warn);
  }
}

/** `least`: percentages of nodes below it say nothing. */
function warnOfPercentages(holder: unknown, path: FieldPath, least: number, warn: ReportRemark): void {
  const nodes = fieldOf(holder, 'percentageOfNodesToScore');
  if (typeof nodes === 'number' && nodes >= least && nodes < 100) {
    warn([...path, 'percentageOfNodesToScore'], 'has no effect: every node is looked at');
  }
  if (fieldOf(holder, 'percentageOfPlacementsToScore') !== undefined) {
    warn([...path, 'percentageOfPlacementsToScore'], 'has no effect: a group is planned as a whole');
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
    return { schedulerName, plugins, ...(Object.keys(points).length > 0 && { points }) };
  });
  checkSorters(readings, checks.report);
  return profiles;
}

function nameOf(profile: unknown, path: FieldPath, isOnly: boolean, report: ReportRemark): string {
  const given = fieldOf(profile, 'schedulerName');
  const name = filledTextOf(given);
  if (name !== undefined) return name;
  if (given === undefined && isOnly) return 'default-scheduler';
  const where = [...path, 'schedulerName'];
  if (given === undefined) report(where, 'is missing; it must be a name of its own where there are several profiles');
  else if (textOf(given) !== undefined) report(where, 'must not be empty; it is what pods say in spec.schedulerName');
  return '';
}

/** There is one queue, so there is one order. */
function checkSorters(readings: readonly ProfilePluginsReading[], report: ReportRemark): void {
  const first = readings[0]?.sorter;
  if (first === undefined) return;
  for (const [index, { sorter }] of readings.entries()) {
    if (sorter === undefined) continue;
    const path = ['profiles', index, 'plugins', 'queueSort'];
    if (sorter.name !== first.name) {
      report(
        path,
        `must be the same for all profiles, for they share one queue: here ${sorter.name} sorts it, in profiles[0] ${first.name}`,
      );
    } else if (!isDeepStrictEqual(sorter.args, first.args)) {
      report(
        ['profiles', index, 'pluginConfig'],
        `must give ${sorter.name}, which sorts the one queue, the same args as profiles[0] does`,
      );
    }
  }
}

function readClientConnection(value: unknown, warn: ReportRemark): ClientConnectionConfiguration {
  const defaults = defaultConfiguration().clientConnection;
  const kubeconfig = filledTextOf(fieldOf(value, 'kubeconfig'));
  const qps = fieldOf(value, 'qps');
  const burst = wholeNumberOf(fieldOf(value, 'burst'));
  const contentType = filledTextOf(fieldOf(value, 'contentType'));
  const isDefault = contentType === undefined || contentType === 'application/vnd.kubernetes.protobuf';
  if (!isDefault && contentType !== 'application/json') {
    warn(['clientConnection', 'contentType'], 'has no effect: the API server is spoken to in JSON');
  }
  const accepted = filledTextOf(fieldOf(value, 'acceptContentTypes'));
  if (accepted !== undefined && !accepted.includes('json')) {
    warn(['clientConnection', 'acceptContentTypes'], 'has no effect: the API server is spoken to in JSON');
  }
  return {
    // As in client-go: 0 means the default, less than 0 no limit.
    qps: typeof qps !== 'number' || qps === 0 || Number.isNaN(qps) ? defaults.qps : Math.max(0, qps),
    burst: burst === undefined || burst === 0 ? defaults.burst : burst,
    ...(kubeconfig !== undefined && { kubeconfig }),
  };
}

function readBackoff(value: unknown, report: ReportRemark): SchedulerConfiguration['podBackoff'] | undefined {
  const given = { initial: fieldOf(value, 'podInitialBackoffSeconds'), max: fieldOf(value, 'podMaxBackoffSeconds') };
  const initial = given.initial === undefined ? 1 : wholeNumberOf(given.initial);
  const max = given.max === undefined ? 10 : wholeNumberOf(given.max);
  if (initial === undefined || max === undefined || initial < 1 || max < 1) return undefined; // which the shape says
  if (max < initial) {
    const text = `must be at least podInitialBackoffSeconds, which is ${initial}, not ${max}`;
    const isDefault = given.max === undefined;
    report(['podMaxBackoffSeconds'], isDefault ? `${text}, its default` : text, [
      isDefault ? 'podInitialBackoffSeconds' : 'podMaxBackoffSeconds',
    ]);
  }
  return { initialMs: initial * 1_000, maxMs: max * 1_000 };
}
