import { extensionPoints } from '../framework/extension-point.ts';
import type { ExtensionPoint } from '../framework/extension-point.ts';
import { closestName } from '../base/closest-name.ts';
import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import type { ReportRemark } from './configuration-document.ts';
import { foreignPoints } from './configuration-schema.ts';
import { isRemoved, whyForeign, worksElsewhereAt } from './foreign-plugins.ts';
import type { KnownPlugin, KnownPlugins } from './known-plugin.ts';
import { fieldOf, filledTextOf, listOf, wholeNumberOf } from './raw-value.ts';

/** A plugin that a profile's file enables. */
export interface NamedPlugin {
  readonly name: string;
  /** At least 1. */
  readonly weight: number;
}

/** What a profile's file says of one point. */
export interface PluginSet {
  readonly enabled: readonly NamedPlugin[];
  readonly disabled: readonly string[];
}

export type SetName = ExtensionPoint | 'multiPoint';

/** Where remarks about a profile go, and what it may name. */
export interface ProfileChecks {
  readonly known: KnownPlugins;
  readonly report: ReportRemark;
  readonly warn: ReportRemark;
}

/** Reads `plugins` of a profile at `path`: the plugins that can run where they are named. All else is reported. */
export function readPluginSets(
  plugins: unknown,
  path: FieldPath,
  checks: ProfileChecks,
): Readonly<Record<SetName, PluginSet>> {
  for (const point of foreignPoints) {
    if (listOf(fieldOf(fieldOf(plugins, point), 'enabled')).length === 0) continue;
    checks.report([...path, point, 'enabled'], 'must be empty: Tutti has no such point, it plans a group as a whole');
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
      const meant = closestName(name, [...checks.known.keys()]);
      const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
      checks.warn(
        [...path, 'disabled', index, 'name'],
        `disables nothing: no plugin is called ${shortText(name)}${advice}`,
      );
    }
    disabled.push(name);
  }
  return { enabled, disabled };
}

function canRun(name: string, setName: SetName, place: FieldPath, { known, report, warn }: ProfileChecks): boolean {
  const path = [...place, 'name'];
  if (name === '*') {
    report(path, 'must be the name of a plugin: * stands for all of them in disabled alone');
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
    warn(path, `has no effect: ${name} has nothing to do at ${setName} here, where it works at ${points}`);
  else report(path, `is ${name}, which has nothing to do at ${setName}; its points are ${points}`);
  return false;
}

function whyUnknown(name: string, known: KnownPlugins): string {
  const list = [...known.keys()].join(', ');
  const why = whyForeign(name);
  if (why !== undefined) return isRemoved(name) ? `is ${name}${why}` : `is ${name}${why}, or take one of ${list}`;
  const meant = closestName(name, [...known.keys()]);
  const advice = meant === undefined ? `the plugins are ${list}` : `did you mean ${meant}? The plugins are ${list}`;
  return `is ${shortText(name)}, and no plugin is called that; ${advice}`;
}

function checkWeight(plugin: KnownPlugin, setName: SetName, place: FieldPath, { warn }: ProfileChecks): void {
  const path = [...place, 'weight'];
  if (setName !== 'score' && setName !== 'multiPoint')
    warn(path, 'has no effect: a weight counts at score and multiPoint');
  else if (plugin.points?.includes('score') === false) warn(path, `has no effect: ${plugin.name} does not score`);
}

/**
 * scheduler-plugins' Coscheduling sorts the queue so that the pods of a group come one after the other. Here the queue holds a
 * group as one, and PrioritySort does what is wanted of it.
 */
export function sortsByPriority({ name, points }: KnownPlugin, setName: SetName): boolean {
  return name === 'Coscheduling' && points?.includes('queueSort') === false && setName === 'queueSort';
}
