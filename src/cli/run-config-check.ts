import { inTermsOfFile } from '../compose/in-terms-of-file.ts';
import { makeProfiles } from '../compose/make-profiles.ts';
import { ConfigurationError, formatDiagnostic } from '../config/configuration-error.ts';
import type { ConfigurationDiagnostic } from '../config/configuration-error.ts';
import { describeConfiguration } from '../config/describe-configuration.ts';
import type { KnownPlugin } from '../config/known-plugin.ts';
import { readConfigurationFile } from '../config/load-configuration.ts';
import { readConfiguration } from '../config/parse-configuration.ts';
import { extensionPoints, implementsPoint } from '../framework/extension-point.ts';
import type { Plugin } from '../framework/plugin.ts';
import { knownPlugin } from '../plugins/own-plugin.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { formatFieldPath } from '../plugins/field-path.ts';
import type { OutputStream } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { serialize } from './output/serialize.ts';

interface Findings {
  readonly problems: readonly ConfigurationDiagnostic[];
  readonly warnings: readonly ConfigurationDiagnostic[];
  /** Profiles and plugins that would run. Empty if there are problems. */
  readonly plan: readonly string[];
}

export interface ConfigCheckOptions {
  readonly verbose: boolean;
  readonly plugins: readonly OwnPlugin[];
  readonly output: 'text' | 'json';
}

/**
 * Prints every error and warning of each file. Resolves to 0 if all files are valid, else to 1. `plugins` are additional plugins that the
 * files may name. The check creates all plugins, as the scheduler does.
 */
export async function runConfigCheck(
  files: readonly string[],
  { verbose, plugins, output }: ConfigCheckOptions,
  stdout: OutputStream,
): Promise<number> {
  if (output === 'json') return printAsJson(files, { verbose, plugins }, stdout);
  let exitCode: number = exitCodes.ok;
  for (const file of files) {
    const { problems, warnings, plan } = await check(file, plugins);
    if (problems.length > 0) exitCode = exitCodes.failed;
    const diagnostics = [
      ...problems.map((diagnostic) => ({ ...diagnostic, kind: 'error' })),
      ...warnings.map((diagnostic) => ({ ...diagnostic, kind: 'warning' })),
    ].sort((a, b) => a.line - b.line || a.column - b.column);
    const lines = diagnostics.map(({ kind, ...diagnostic }) => formatDiagnostic(diagnostic, kind));
    const counts = [
      ...(problems.length > 0 ? [counted(problems.length, 'error')] : ['valid']),
      ...(warnings.length > 0 ? [counted(warnings.length, 'warning')] : []),
    ];
    lines.push(`${file}: ${counts.join(', ')}`);
    if (verbose && problems.length === 0) lines.push(...plan);
    stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
  return exitCode;
}

async function printAsJson(
  files: readonly string[],
  { verbose, plugins }: Omit<ConfigCheckOptions, 'output'>,
  stdout: OutputStream,
): Promise<number> {
  const shown = ({ line, column, path, text }: ConfigurationDiagnostic): object => ({
    ...(line > 0 && { line, column }),
    field: formatFieldPath(path),
    message: text,
  });
  const results = await Promise.all(
    files.map(async (file) => {
      const { problems, warnings, plan } = await check(file, plugins);
      return {
        file,
        valid: problems.length === 0,
        errors: problems.map(shown),
        warnings: warnings.map(shown),
        ...(verbose && { profiles: plan }),
      };
    }),
  );
  stdout.write(serialize({ files: results }, 'json'));
  return results.every(({ valid }) => valid) ? exitCodes.ok : exitCodes.failed;
}

async function check(file: string, plugins: readonly OwnPlugin[]): Promise<Findings> {
  try {
    const reading = readConfiguration(file, await readConfigurationFile(file), plugins.map(knownPlugin));
    const { configuration, problems, warnings } = reading;
    if (problems.length > 0) return { problems, warnings, plan: [] };
    try {
      const profiles = await inTermsOfFile(reading, () => makeProfiles(configuration, plugins));
      const plan = profiles.flatMap(({ plugins: made }, index) =>
        describeConfiguration({ profiles: [configuration.profiles[index]!] }, made.map(withPoints)),
      );
      return { problems, warnings, plan };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return { problems: error.problems, warnings, plan: [] };
    }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { problems: error.problems, warnings: [], plan: [] };
  }
}

/** Returns a created plugin with the extension points that it implements. */
function withPoints(plugin: Plugin): KnownPlugin {
  return { name: plugin.name, points: extensionPoints.filter((point) => implementsPoint(plugin, point)) };
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
