import { extensionPoints } from '../../src/framework/extension-point.ts';
import { configurationSchema, foreignPoints } from '../../src/config/configuration-schema.ts';
import { configurationObject } from '../../src/config/format-configuration.ts';
import { parseConfiguration } from '../../src/config/parse-configuration.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import { fieldMeanings } from './field-meanings.ts';
import { code, codes, madeFrom, table } from './markdown.ts';
import { requirement, schemaRows, shownDefault } from './schema-rows.ts';
import type { RejectedRow, SchemaRow } from './schema-rows.ts';

/** In place of a point's name, so that the same four fields are not listed for each. */
const anyPoint = 'POINT';

/** Markdown, of every field that `--config` takes. Throws for a field that nobody says the meaning of, and the other way round. */
export function configurationPage(): string {
  const all = schemaRows(configurationSchema).filter(({ path }) => !isOfAnotherPoint(path));
  const rows = all.filter((row) => 'type' in row).map((row) => ({ ...row, path: withAnyPoint(row.path) }));
  const rejected = all.filter((row) => 'rejected' in row);
  mustAgree(rows.map(({ path }) => path));
  return [
    '# Configuration',
    '',
    madeFrom('the schema that files are checked against'),
    '',
    'Every field of a `KubeSchedulerConfiguration` that `tutti scheduler --config` reads; [Configuration](../configuration.md) says how it is used, and what Tutti does otherwise than kube-scheduler. `[]` stands for each element of a list. All fields may be absent but those that are required. `apiVersion` is `kubescheduler.config.k8s.io/v1` (or `v1beta3`, `v1beta2`), `kind` is `KubeSchedulerConfiguration`.',
    '',
    fieldTable(rows, defaultsOfConfiguration()),
    '',
    `${code(anyPoint)} is \`multiPoint\`, ${codes(extensionPoints)}. ${codes(foreignPoints)}, which kube-scheduler has for its own pod groups, are read as well, and nothing is enabled there.`,
    '',
    '## Fields that are not taken',
    '',
    rejectedTable(rejected),
    '',
    '## Plugins',
    '',
    'A profile has these, in this order, unless it says otherwise:',
    '',
    table(
      ['plugin', 'points', 'weight', 'arguments'],
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

/** Of the points one stands for all. */
const pointPath = /^profiles\[\]\.plugins\.(\w+)\./;

function isOfAnotherPoint(path: string): boolean {
  const point = pointPath.exec(path)?.[1];
  return point !== undefined && point !== 'multiPoint';
}

function withAnyPoint(path: string): string {
  return path.replace(pointPath, `profiles[].plugins.${anyPoint}.`);
}

function mustAgree(paths: readonly string[]): void {
  const silent = paths.filter((path) => !Object.hasOwn(fieldMeanings, path));
  const unknown = Object.keys(fieldMeanings).filter((path) => !paths.includes(path));
  if (silent.length > 0) throw new Error(`field-meanings.ts does not say what is meant by ${silent.join(', ')}`);
  if (unknown.length > 0) throw new Error(`field-meanings.ts speaks of ${unknown.join(', ')}, which are no fields`);
}

/** What a file holds when it says as little as it can, with an extender to show the defaults of one. */
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
    ['field', 'must be', 'default', 'what it does'],
    rows.map((row) => [code(row.path), requirement(row), shownDefault(defaultOf(row.path)), fieldMeanings[row.path]!]),
  );
}

function rejectedTable(rows: readonly RejectedRow[]): string {
  return table(
    ['field', 'why'],
    rows.map(({ path, rejected }) => [code(path), rejected]),
  );
}

function argumentSection(plugin: string, rows: readonly (SchemaRow | RejectedRow)[]): string[] {
  if (rows.length === 0) return [];
  const taken = rows.filter((row) => 'type' in row);
  const rejected = rows.filter((row) => 'rejected' in row);
  return [
    `### Arguments of ${plugin}`,
    '',
    table(
      ['field', 'must be', 'default'],
      taken.map((row) => [code(row.path), requirement(row), shownDefault(row.byDefault)]),
    ),
    '',
    ...(rejected.length === 0 ? [] : [rejectedTable(rejected), '']),
  ];
}
