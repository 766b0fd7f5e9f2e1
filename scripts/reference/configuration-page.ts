import { extensionPoints } from '../../src/framework/extension-point.ts';
import { configurationSchema, foreignPoints } from '../../src/config/configuration-schema.ts';
import { configurationObject } from '../../src/config/format-configuration.ts';
import { parseConfiguration } from '../../src/config/parse-configuration.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import { fieldMeanings } from './field-meanings.ts';
import { code, codes, madeFrom, table } from './markdown.ts';
import { requirement, schemaRows, shownDefault } from './schema-rows.ts';
import type { RejectedRow, SchemaRow } from './schema-rows.ts';

/** Stands for every extension point, so that the page does not repeat the same fields for each one. */
const anyPoint = 'POINT';

/** Returns the page in Markdown: every field that `--config` accepts. Throws if field-meanings.ts and the schema have different fields. */
export function configurationPage(): string {
  const all = schemaRows(configurationSchema).filter(({ path }) => !isRepeatedPoint(path));
  const rows = all.filter((row) => 'type' in row).map((row) => ({ ...row, path: withAnyPoint(row.path) }));
  const rejected = all.filter((row) => 'rejected' in row);
  checkMeanings(rows.map(({ path }) => path));
  return [
    '# Configuration',
    '',
    madeFrom('the schema that validates configuration files'),
    '',
    'This page lists every field of a `KubeSchedulerConfiguration` that `tutti scheduler --config` reads. [Configuration](../configuration.md) describes how to use it, and how Tutti differs from kube-scheduler. `[]` means each element of a list. Fields are optional unless the table says that they are required. `apiVersion` is `kubescheduler.config.k8s.io/v1` (or `v1beta3`, `v1beta2`), `kind` is `KubeSchedulerConfiguration`.',
    '',
    fieldTable(rows, defaultsOfConfiguration()),
    '',
    `${code(anyPoint)} is \`multiPoint\`, ${codes(extensionPoints)}. Tutti also accepts ${codes(foreignPoints)}, which kube-scheduler has for its own pod groups, but enables nothing there.`,
    '',
    '## Rejected fields',
    '',
    rejectedTable(rejected),
    '',
    '## Plugins',
    '',
    'By default, a profile enables these plugins, in this order:',
    '',
    table(
      ['Plugin', 'Extension points', 'Weight', 'Arguments'],
      defaultPlugins.map(({ name, points, weight = 1, arguments: its }) => [
        code(name),
        codes(points),
        points.includes('score') ? String(weight) : '',
        schemaRows(its.schema).length === 0 ? 'none' : `[below](#arguments-of-${name.toLowerCase()})`,
      ]),
    ),
    '',
    ...defaultPlugins.flatMap(({ name, arguments: its }) => argumentSection(name, schemaRows(its.schema))),
  ].join('\n');
}

const pointPath = /^profiles\[\]\.plugins\.(\w+)\./;

function isRepeatedPoint(path: string): boolean {
  const point = pointPath.exec(path)?.[1];
  return point !== undefined && point !== 'multiPoint';
}

function withAnyPoint(path: string): string {
  return path.replace(pointPath, `profiles[].plugins.${anyPoint}.`);
}

function checkMeanings(paths: readonly string[]): void {
  const missing = paths.filter((path) => !Object.hasOwn(fieldMeanings, path));
  const unknown = Object.keys(fieldMeanings).filter((path) => !paths.includes(path));
  if (missing.length > 0) throw new Error(`field-meanings.ts has no meaning for ${missing.join(', ')}`);
  if (unknown.length > 0) throw new Error(`field-meanings.ts has fields that do not exist: ${unknown.join(', ')}`);
}

/** Returns a lookup of the defaults: the values of a minimal file, with one extender to show its defaults. */
function defaultsOfConfiguration(): (path: string) => unknown {
  const { configuration } = parseConfiguration(
    'defaults.yaml',
    'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: "http://x", filterVerb: x}]\n',
  );
  const whole = configurationObject(configuration);
  return (path) => {
    if (
      /^extenders\[\]\.(urlPrefix|filterVerb)$|^profiles\[\]\.plugin|^(extenders|profiles)$|^(apiVersion|kind)$/.test(
        path,
      )
    )
      return undefined;
    return path.split('.').reduce<unknown>((value, part) => inside(value, part), whole);
  };
}

function inside(value: unknown, part: string): unknown {
  const name = part.replace('[]', '');
  const inner = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  return part.endsWith('[]') ? (inner as readonly unknown[] | undefined)?.[0] : inner;
}

function fieldTable(rows: readonly SchemaRow[], defaultOf: (path: string) => unknown): string {
  return table(
    ['Field', 'Type', 'Default', 'What it does'],
    rows.map((row) => [code(row.path), requirement(row), shownDefault(defaultOf(row.path)), fieldMeanings[row.path]!]),
  );
}

function rejectedTable(rows: readonly RejectedRow[]): string {
  return table(
    ['Field', 'Reason'],
    rows.map(({ path, rejected }) => [code(path), rejected]),
  );
}

function argumentSection(plugin: string, rows: readonly (SchemaRow | RejectedRow)[]): string[] {
  if (rows.length === 0) return [];
  const accepted = rows.filter((row) => 'type' in row);
  const rejected = rows.filter((row) => 'rejected' in row);
  return [
    `### Arguments of ${plugin}`,
    '',
    table(
      ['Field', 'Type', 'Default'],
      accepted.map((row) => [code(row.path), requirement(row), shownDefault(row.byDefault)]),
    ),
    '',
    ...(rejected.length === 0 ? [] : [rejectedTable(rejected), '']),
  ];
}
