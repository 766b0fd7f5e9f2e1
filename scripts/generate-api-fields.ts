// Writes src/plane/apiserver/schema/api-field-lines.ts from the Go types of Kubernetes' own API modules: field numbers, list types and
// merge keys are facts that no package of this registry has in another form. Needs Go; the version is the real plane's.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { builtInKinds } from '../src/plane/apiserver/kinds/built-in-kinds.ts';
import { modelFields } from '../src/plane/apiserver/schema/built-in-types.ts';
import type { ValueType } from '../src/plane/apiserver/schema/built-in-types.ts';
import { goEnvironment } from '../test/planes/real/go-toolchain.ts';
import { moduleFolder } from '../test/planes/real/build-cache.ts';

/** Go package below its module -> what the client library puts before the version where two packages have a type of that name. */
const packages: readonly (readonly [module: string, folder: string, prefix: string])[] = [
  ['k8s.io/apimachinery', 'pkg/apis/meta/v1', 'Meta'],
  ['k8s.io/api', 'core/v1', 'Core'],
  ['k8s.io/api', 'apps/v1', 'Apps'],
  ['k8s.io/api', 'batch/v1', 'Batch'],
  ['k8s.io/api', 'coordination/v1', 'Coordination'],
  ['k8s.io/api', 'events/v1', 'Events'],
  ['k8s.io/api', 'policy/v1', 'Policy'],
  ['k8s.io/api', 'scheduling/v1', 'Scheduling'],
  ['k8s.io/api', 'storage/v1', 'Storage'],
  ['k8s.io/apiextensions-apiserver', 'pkg/apis/apiextensions/v1', 'Apiextensions'],
];

/** Models that are sent to the server and never stored. */
const transientModels = ['V1Binding', 'V1DeleteOptions', 'V1Eviction'];

interface GoField {
  /** Empty for a struct that is inlined. */
  readonly json: string;
  readonly goType: string;
  readonly number: string;
  readonly omitted: 'never' | 'empty' | 'zero';
  /** What follows the number and its flags. */
  readonly structure: string;
}

interface GoStruct {
  readonly atomic: boolean;
  readonly fields: readonly GoField[];
}

/** Model of the client library -> its Go type. */
const structs = new Map<string, GoStruct>();

for (const [module, folder, prefix] of packages) {
  const source = await readFile(join(await moduleDirectory(module), folder, 'types.go'), 'utf8');
  readStructs(source, prefix);
  if (prefix === 'Apiextensions') {
    const more = join(await moduleDirectory(module), folder, 'types_jsonschema.go');
    readStructs(await readFile(more, 'utf8'), prefix);
  }
}

const needed = new Set<string>();
const served = builtInKinds.flatMap(({ content }) => (content.type === 'model' ? [content.model] : []));
for (const model of [...served, ...transientModels]) need(model);
const lines = [...needed].sort().map(line);
const { stdout: version } = await go(['list', '-m', '-f', '{{.Version}}', 'k8s.io/api']);
const text = `// Written by scripts/generate-api-fields.ts; not to be changed by hand.

/**
 * What the Go types of Kubernetes ${version.trim().replace('v0.', 'v1.')} (k8s.io/api, k8s.io/apimachinery, k8s.io/apiextensions-apiserver; Apache-2.0) say of the fields of
 * the models that are served, beyond what the client library's models say; \`api-fields.ts\` reads it.
 */
export const apiFieldLines: readonly string[] = ${JSON.stringify(lines)};
`;
const target = new URL('../src/plane/apiserver/schema/api-field-lines.ts', import.meta.url);
await writeFile(target, await format(text, { ...(await resolveConfig(target)), parser: 'typescript' }));
console.log(`${lines.length} models of ${version.trim()}`);

async function go(args: readonly string[]): Promise<{ stdout: string }> {
  return promisify(execFile)('go', [...args], { cwd: moduleFolder('kubernetes'), env: goEnvironment() });
}

async function moduleDirectory(module: string): Promise<string> {
  return (await go(['list', '-m', '-f', '{{.Dir}}', module])).stdout.trim();
}

function readStructs(source: string, prefix: string): void {
  let notes: string[] = [];
  let fields: GoField[] | undefined;
  for (const text of source.split('\n')) {
    const comment = /^\s*\/\/\s?(.*)$/.exec(text);
    if (comment !== null) {
      notes.push(comment[1]!);
      continue;
    }
    const start = /^type (\w+) struct \{/.exec(text);
    if (start !== null) {
      fields = [];
      const name = start[1]!;
      const model = [`${prefix}V1${name}`, `V1${name}`].find((each) => modelFields(each) !== undefined);
      // A struct that is inlined has no model of its own. Of two of one name, the more general package's comes first.
      const key = model ?? `V1${name}`;
      if (!structs.has(key)) structs.set(key, { atomic: notes.includes('+structType=atomic'), fields });
    } else if (text === '}') {
      fields = undefined;
    } else if (fields !== undefined) {
      const field = readField(text, notes);
      if (field !== undefined) fields.push(field);
    }
    notes = [];
  }
}

function readField(text: string, notes: readonly string[]): GoField | undefined {
  const parsed = /^\t(?:(\w+)\s+)?([[\]*\w.]+)\s+`(.*)`/.exec(text);
  if (parsed === null) return undefined;
  const [, , goType, tags] = parsed as unknown as [string, string | undefined, string, string];
  const tag = (name: string): string => new RegExp(`${name}:"([^"]*)"`).exec(tags)?.[1] ?? '';
  const number = /^[^,]+,(\d+)/.exec(tag('protobuf'))?.[1];
  const [json = '', ...options] = tag('json').split(',');
  if (number === undefined) return undefined;
  const note = (name: string): string[] =>
    notes.filter((each) => each.startsWith(`+${name}=`)).map((each) => each.slice(name.length + 2));
  const keys = note('listMapKey');
  const [listType = note('mapType')[0] ?? note('structType')[0] ?? ''] = note('listType');
  const [fallback] = note('default');
  const strategy = tag('patchStrategy');
  const merge = strategy.includes('merge') ? `~${tag('patchMergeKey')}` : strategy === 'replace' ? '^' : '';
  const structure = listType === '' || listType === 'granular' ? '' : `{${[listType, ...keys].join(' ')}}`;
  const isKeyDefault = fallback !== undefined && /^"\w*"$/.test(fallback);
  return {
    json,
    goType,
    number,
    omitted: options.includes('omitzero') ? 'zero' : options.includes('omitempty') ? 'empty' : 'never',
    structure: `${structure}${merge}${isKeyDefault ? `=${fallback.slice(1, -1)}` : ''}`,
  };
}

/** `5*`: a pointer, which keeps a zero; `5!`: always in the JSON; `5q`: quantities. */
function numberText({ number, goType, json, omitted }: GoField): string {
  if (goType.startsWith('*')) return `${number}*${isQuantity(goType)}`;
  // omitempty leaves no struct out.
  const isStruct = findStruct(goType) !== undefined || /^(metav1\.)?(Micro)?Time$/.test(goType);
  const always = omitted === 'never' || (omitted === 'empty' && isStruct);
  return `${number}${always && json !== '' ? '!' : ''}${isQuantity(goType)}`;
}

function isQuantity(goType: string): string {
  return /Quantity\b|ResourceList\b/.test(goType) ? 'q' : '';
}

/** Undefined for named strings, numbers and collections. */
function findStruct(goType: string): GoStruct | undefined {
  const name = goType.replace(/^\*?(\w+\.)?/, '');
  return structs.get(`V1${name}`) ?? [...structs].find(([model]) => model.endsWith(`V1${name}`))?.[1];
}

function need(model: string): void {
  if (needed.has(model)) return;
  const struct = structs.get(model);
  const fields = modelFields(model);
  if (struct === undefined || fields === undefined) throw new Error(`there is no Go type for the model ${model}`);
  needed.add(model);
  for (const [name, type] of fields) if (flatten(struct).has(name)) needType(type);
}

function needType(type: ValueType): void {
  if (type.kind === 'list' || type.kind === 'map') needType(type.element);
  if (type.kind === 'model' && modelFields(type.name) !== undefined && structs.has(type.name)) need(type.name);
}

/** JSON field name -> field, those of inlined structs included. */
function flatten(struct: GoStruct): Map<string, GoField> {
  const found = new Map<string, GoField>();
  for (const field of struct.fields) {
    if (field.json !== '') found.set(field.json, field);
    else for (const [name, inner] of flatten(inlined(field))) found.set(name, inner);
  }
  return found;
}

function inlined(field: GoField): GoStruct {
  const found = findStruct(field.goType);
  if (found === undefined) throw new Error(`there is no Go type ${field.goType} to inline`);
  return found;
}

/** `Model name:field …`; an inlined struct stands in brackets behind the number it has: `(2 name:field …)`. */
function line(model: string): string {
  const struct = structs.get(model)!;
  return `${model}${struct.atomic ? '{atomic}' : ''} ${fieldsText(struct)}`;
}

function fieldsText(struct: GoStruct): string {
  return struct.fields
    .map((field) => {
      if (field.json === '') return `(${field.number} ${fieldsText(inlined(field))} )`;
      return `${field.json}:${numberText(field)}${field.structure}`;
    })
    .join(' ');
}
