import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { closestName } from '../base/closest-name.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { PluginArgumentsError } from '../plugins/plugin-arguments-error.ts';
import { PluginArguments } from '../plugins/plugin-arguments.ts';
import { pluginRegistry } from '../plugins/registry.ts';
import { PluginFileError } from './plugin-file-error.ts';

const extensions = ['.ts', '.mts', '.js', '.mjs'];
const fields = ['name', 'factory', 'weight', 'args', 'argumentsSchema'];
const example = "export default { name: 'MyPlugin', factory: (args, handle) => ({ name: 'MyPlugin', … }) }";

/**
 * Loads the plugins that the files export by default. Node.js runs TypeScript directly and strips its types. Rejects with PluginFileError
 * for the first file that is invalid.
 */
export async function loadPlugins(paths: readonly string[]): Promise<readonly OwnPlugin[]> {
  /** plugin name -> file that defines it */
  const files = new Map<string, string>();
  const plugins: OwnPlugin[] = [];
  for (const path of paths) {
    const plugin = await loadPlugin(path);
    const { name } = plugin;
    const other = pluginRegistry.has(name) ? "one of Tutti's plugins" : files.get(name);
    if (other !== undefined) {
      throw new PluginFileError(path, `the name ${name} is already used by ${other}: choose another name`);
    }
    files.set(name, path);
    plugins.push(plugin);
  }
  return plugins;
}

async function loadPlugin(path: string): Promise<OwnPlugin> {
  const file = resolve(path);
  const kind = await stat(file).catch((error: unknown) => {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new PluginFileError(path, missing ? 'no such file' : (error as Error).message, { cause: error });
  });
  if (!kind.isFile()) throw new PluginFileError(path, 'not a file');
  if (!extensions.includes(extname(file))) {
    throw new PluginFileError(path, `the file name of a plugin must end in ${extensions.join(', ')}`);
  }
  let module: object;
  try {
    module = (await import(pathToFileURL(file).href)) as object;
  } catch (error) {
    throw new PluginFileError(path, await explain(file, error), { cause: error });
  }
  const problem = problemOf(module);
  if (problem !== undefined) throw new PluginFileError(path, problem);
  return (module as { readonly default: OwnPlugin }).default;
}

/** Returns why the module does not export a plugin, or undefined if it does. */
function problemOf(module: object): string | undefined {
  const names = Object.keys(module).filter((name) => name !== 'module.exports');
  if (!('default' in module)) {
    const found = names.length === 0 ? 'nothing' : names.join(', ');
    return `it exports ${found}, but must export one plugin by default:\n  ${example}`;
  }
  const plugin: unknown = module.default;
  if (typeof plugin !== 'object' || plugin === null || Array.isArray(plugin)) {
    const found = Array.isArray(plugin) ? 'a list' : plugin === null ? 'null' : `a ${typeof plugin}`;
    return `its default export is ${found}, but must be a plugin:\n  ${example}`;
  }
  if (Object.keys(plugin).length === 0)
    return `it exports nothing, but must export one plugin by default:\n  ${example}`;
  const { name, factory, weight, argumentsSchema } = plugin as Partial<Record<string, unknown>>;
  if (typeof name !== 'string' || !/^[A-Za-z][\w.-]*$/.test(name)) {
    return `its default export needs a name of letters and digits, such as name: 'MyPlugin'`;
  }
  if (typeof factory !== 'function') {
    return `its default export needs a factory: (args, handle) => ({ name: ${JSON.stringify(name)}, … })`;
  }
  if (weight !== undefined && !(typeof weight === 'number' && Number.isFinite(weight) && weight >= 1)) {
    return 'its weight must be a number of at least 1';
  }
  const unknown = Object.keys(plugin).find((field) => !fields.includes(field));
  if (unknown !== undefined) {
    const closest = closestName(unknown, fields);
    const advice = closest === undefined ? `the known fields are ${fields.join(', ')}` : `did you mean ${closest}?`;
    return `its default export has an unknown field ${unknown}: ${advice}`;
  }
  return argumentsSchema === undefined ? undefined : problemOfSchema(name, argumentsSchema);
}

function problemOfSchema(name: string, schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || (schema as { readonly type?: unknown }).type !== 'object') {
    return "its argumentsSchema must be a JSON schema of type 'object'";
  }
  try {
    new PluginArguments(name, schema as { readonly type: 'object'; readonly additionalProperties: boolean }).read({});
  } catch (error) {
    if (!(error instanceof PluginArgumentsError)) return `its argumentsSchema is invalid: ${(error as Error).message}`;
  }
  return undefined;
}

/** Returns why the module could not be loaded, with file and line if they are known. */
async function explain(file: string, error: unknown): Promise<string> {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  const { code } = error as NodeJS.ErrnoException;
  const where =
    placeIn(file, error.stack ?? '') ?? (error.name === 'SyntaxError' ? await checkedPlace(file) : undefined);
  const text = `${where === undefined ? '' : `${where}: `}${error.name === 'Error' ? '' : `${error.name}: `}${error.message}`;
  return `${text}${adviceFor(code, error.message)}`;
}

function adviceFor(code: string | undefined, message: string): string {
  switch (code) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return '. Node.js strips types but does not compile TypeScript: remove enums, namespaces and parameter properties';
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return '. Compile it to JavaScript, or move it out of node_modules';
    case 'ERR_MODULE_NOT_FOUND':
      return message.includes("'tutti-scheduler'")
        ? '. Import only its types (import type), because Status is in the handle; or install it next to the plugin, and run that tutti'
        : '';
    default:
      return message.includes('does not provide an export named') ? '. Import types with import type' : '';
  }
}

/** Returns the first user file and line in the stack: `line 3`, or with the path if it is not `file`. */
function placeIn(file: string, stack: string): string | undefined {
  for (const [, found, line] of stack.matchAll(/(?:^|\(|at |async )((?:file:\/\/)?\/[^\n()]*?):(\d+)(?::\d+)?\)?$/gm)) {
    const path = found!.startsWith('file:') ? fileURLToPath(found!) : found!;
    if (path === fileURLToPath(import.meta.url)) return undefined;
    return path === file ? `line ${line}` : `${path}, line ${line}`;
  }
  return undefined;
}

/** Returns the line of a syntax error. The error of an import contains it only for TypeScript. */
async function checkedPlace(file: string): Promise<string | undefined> {
  const output = await new Promise<string>((resolved) => {
    execFile(process.execPath, ['--check', file], (_error, _stdout, stderr) => resolved(stderr));
  });
  return placeIn(file, output);
}
