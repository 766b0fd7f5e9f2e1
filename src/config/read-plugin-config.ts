import { isDeepStrictEqual } from 'node:util';
import { closestName } from '../base/closest-name.ts';
import type { ObjectSchema } from '../plugins/argument-schema.ts';
import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import { PluginArgumentsError } from '../plugins/plugin-arguments-error.ts';
import type { ReportDiagnostic } from './configuration-document.ts';
import { configurationGroup, configurationVersions } from './configuration-schema.ts';
import { isRemoved, whyForeign } from './foreign-plugins.ts';
import type { KnownPlugins } from './known-plugin.ts';
import { fieldOf, filledTextOf, listOf } from './raw-value.ts';

/** The content of a profile's pluginConfig. */
export interface PluginConfigReading {
  /** plugin -> its arguments: with defaults, or as given for plugins that validate their own; only for plugins that have arguments */
  readonly args: ReadonlyMap<string, unknown>;
  /** plugin -> path of its entry */
  readonly places: ReadonlyMap<string, FieldPath>;
}

/** Reads the pluginConfig list at `path`, and reports what is wrong with it. */
export function readPluginConfig(
  list: unknown,
  path: FieldPath,
  {
    known,
    report,
    warn,
  }: { readonly known: KnownPlugins; readonly report: ReportDiagnostic; readonly warn: ReportDiagnostic },
): PluginConfigReading {
  const args = new Map<string, unknown>();
  const places = new Map<string, FieldPath>();
  for (const { name, arguments: its } of known.values()) {
    const defaults = its?.read(undefined);
    if (defaults !== undefined && !isDeepStrictEqual(defaults, {})) args.set(name, defaults);
  }
  for (const [index, entry] of listOf(list).entries()) {
    const name = filledTextOf(fieldOf(entry, 'name'));
    if (name === undefined || places.has(name)) continue;
    const place = [...path, index];
    places.set(name, place);
    const given = fieldOf(entry, 'args');
    const plugin = known.get(name);
    const its = plugin?.arguments;
    checkVersion(given, its, [...place, 'args', 'apiVersion'], report);
    const read = its === undefined ? given : readArguments(its, given, [...place, 'args'], report);
    if (plugin !== undefined && read !== undefined && !isDeepStrictEqual(read, {})) args.set(name, read);
    warnAboutNoEffect(its?.schema, given, [...place, 'args'], warn);
    if (plugin === undefined) unknownPlugin(name, [...place, 'name'], { known, report, warn });
  }
  return { args, places };
}

function readArguments(
  its: { read(args: unknown): unknown },
  given: unknown,
  path: FieldPath,
  report: ReportDiagnostic,
): unknown {
  try {
    return its.read(given);
  } catch (error) {
    if (!(error instanceof PluginArgumentsError)) throw error;
    for (const { path: inner, problem } of error.problems) report([...path, ...inner], problem);
    return undefined;
  }
}

/** Warns about arguments that are accepted for compatibility only. Defaults need no warning: a complete file contains them. */
function warnAboutNoEffect(
  schema: ObjectSchema | undefined,
  given: unknown,
  path: FieldPath,
  warn: ReportDiagnostic,
): void {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    if (!('noEffect' in field)) continue;
    const value = fieldOf(given, name) ?? field.default;
    if (value !== field.default) warn([...path, name], `has no effect: ${field.noEffect}`);
  }
}

/** Checks the apiVersion of arguments. Plugins that validate their own arguments decide themselves. */
function checkVersion(given: unknown, its: unknown, path: FieldPath, report: ReportDiagnostic): void {
  const version = fieldOf(given, 'apiVersion');
  if (its === undefined || typeof version !== 'string') return;
  if (configurationVersions.some((each) => version === `${configurationGroup}/${each}`)) return;
  report(path, `must be ${configurationGroup}/v1, not ${shortText(version)}`);
}

function unknownPlugin(
  name: string,
  path: FieldPath,
  {
    known,
    report,
    warn,
  }: { readonly known: KnownPlugins; readonly report: ReportDiagnostic; readonly warn: ReportDiagnostic },
): void {
  const why = whyForeign(name);
  if (isRemoved(name)) {
    report(path, `names ${name}${why}`);
  } else if (why !== undefined) {
    warn(path, `has no effect: it names ${name}, which Tutti does not have`);
  } else {
    const closest = closestName(name, [...known.keys()]);
    const advice = closest === undefined ? '' : `; did you mean ${closest}?`;
    warn(path, `has no effect: there is no plugin ${shortText(name)}${advice}`);
  }
}
