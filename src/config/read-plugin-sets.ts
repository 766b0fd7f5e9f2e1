import { extensionPoints } from '../framework/extension-point.ts';
import type { ExtensionPoint } from '../framework/extension-point.ts';
import { closestName } from '../base/closest-name.ts';
import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import type { ReportDiagnostic } from './configuration-document.ts';
import { foreignPoints } from './configuration-schema.ts';
import { isRemoved, whyForeign, worksElsewhereAt } from './foreign-plugins.ts';
import type { KnownPlugin, KnownPlugins } from './known-plugin.ts';
import { fieldOf, filledTextOf, listOf, wholeNumberOf } from './raw-value.ts';

/** A plugin that a profile of a file enables. */
export interface NamedPlugin {
  readonly name: string;
  /** At least 1. */
  readonly weight: number;
}

/** The configuration of one extension point in a profile of a file. */
export interface PluginSet {
  readonly enabled: readonly NamedPlugin[];
  readonly disabled: readonly string[];
}

export type SetName = ExtensionPoint | 'multiPoint';

/** Receivers of diagnostics about a profile, and the plugins that it may name. */
export interface ProfileChecks {
  readonly known: KnownPlugins;
  readonly report: ReportDiagnostic;
  readonly warn: ReportDiagnostic;
}

/** Reads `plugins` of the profile at `path`. Returns the plugins that can run at their points, and reports everything else. */
export function readPluginSets(
  plugins: unknown,
  path: FieldPath,
  checks: ProfileChecks,
): Readonly<Record<SetName, PluginSet>> {
  for (const point of foreignPoints) {
    if (listOf(fieldOf(fieldOf(plugins, point), 'enabled')).length === 0) continue;
    checks.report(
      [...path, point, 'enabled'],
      'must be empty: Tutti does not have this extension point; it plans a group as a whole',
    );
  }
  const names: readonly SetName[] = ['multiPoint', ...extensionPoints];
  return Object.fromEntries(
    names.map((name) => [name, readPluginSet(fieldOf(plugins, name), name, [...path, name], checks)]),
  ) as Record<SetName, PluginSet>;
}

function readPluginSet(set: unknown, setName: SetName, path: FieldPath, checks: ProfileChecks): PluginSet {
  const enabled: NamedPlugin[] = [];
  for (const [index, entry] of listOf(fieldOf(set, 'enabled')).entries()) {
    const name = filledTextOf(fieldOf(entry, 'name'));
    if (name === undefined || enabled.some((plugin) => plugin.name === name)) continue;
    const place = [...path, 'enabled', index];
    const weight = wholeNumberOf(fieldOf(entry, 'weight'));
    if (!canRun(name, setName, place, checks)) continue;
    if (weight !== undefined && weight > 1) checkWeight(checks.known.get(name)!, setName, place, checks);
    enabled.push({ name, weight: weight === undefined || weight < 1 ? 1 : weight });
  }
  const disabled: string[] = [];
  for (const [index, entry] of listOf(fieldOf(set, 'disabled')).entries()) {
    const name = filledTextOf(fieldOf(entry, 'name'));
    if (name === undefined) continue;
    if (name !== '*' && !checks.known.has(name) && whyForeign(name) === undefined) {
      const closest = closestName(name, [...checks.known.keys()]);
      const advice = closest === undefined ? '' : `; did you mean ${closest}?`;
      checks.warn(
        [...path, 'disabled', index, 'name'],
        `disables nothing: there is no plugin ${shortText(name)}${advice}`,
      );
    }
    disabled.push(name);
  }
  return { enabled, disabled };
}

function canRun(name: string, setName: SetName, place: FieldPath, { known, report, warn }: ProfileChecks): boolean {
  const path = [...place, 'name'];
  if (name === '*') {
    report(path, 'must be the name of a plugin: * is only allowed in disabled');
    return false;
  }
  const plugin = known.get(name);
  if (plugin === undefined) {
    report(path, whyUnknown(name, known));
    return false;
  }
  if (setName === 'multiPoint' || plugin.points === undefined || plugin.points.includes(setName)) return true;
  if (sortsByPriority(plugin, setName)) return true;
  const points = plugin.points.join(', ');
  if (worksElsewhereAt(name, setName))
    warn(path, `has no effect: in Tutti, ${name} does not implement ${setName}, only ${points}`);
  else report(path, `is ${name}, which does not implement ${setName}, only ${points}`);
  return false;
}

function whyUnknown(name: string, known: KnownPlugins): string {
  const list = [...known.keys()].join(', ');
  const why = whyForeign(name);
  if (why !== undefined) return isRemoved(name) ? `is ${name}${why}` : `is ${name}${why}, or use one of ${list}`;
  const closest = closestName(name, [...known.keys()]);
  const advice = closest === undefined ? `the plugins are ${list}` : `did you mean ${closest}? The plugins are ${list}`;
  return `is ${shortText(name)}, which is not a known plugin; ${advice}`;
}

function checkWeight(plugin: KnownPlugin, setName: SetName, place: FieldPath, { warn }: ProfileChecks): void {
  const path = [...place, 'weight'];
  if (setName !== 'score' && setName !== 'multiPoint')
    warn(path, 'has no effect: weights only apply at score and multiPoint');
  else if (plugin.points?.includes('score') === false) warn(path, `has no effect: ${plugin.name} does not score`);
}

/**
 * Returns whether PrioritySort replaces the plugin at this point. scheduler-plugins' Coscheduling sorts the queue so that the
 * pods of a group follow each other. In Tutti a group is one entity in the queue, and PrioritySort has the same effect.
 */
export function sortsByPriority({ name, points }: KnownPlugin, setName: SetName): boolean {
  return name === 'Coscheduling' && points?.includes('queueSort') === false && setName === 'queueSort';
}
