import { ConfigurationError, formatRemark } from '../config/configuration-error.ts';
import type { ConfigurationRemark } from '../config/configuration-error.ts';
import { describeConfiguration } from '../config/describe-configuration.ts';
import { readConfigurationFile } from '../config/load-configuration.ts';
import { readConfiguration } from '../config/parse-configuration.ts';
import type { OutputStream } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';

/** Says of each file everything that is wrong with it, and what should be known. Answers 0 when all of them can be used, else 1. */
export async function runConfigCheck(
  files: readonly string[],
  { verbose }: { readonly verbose: boolean },
  stdout: OutputStream,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  for (const file of files) {
    const { problems, warnings, plan } = await check(file);
    if (problems.length > 0) exitCode = exitCodes.failed;
    const remarks = [
      ...problems.map((remark) => ({ ...remark, kind: 'error' })),
      ...warnings.map((remark) => ({ ...remark, kind: 'warning' })),
    ].sort((a, b) => a.line - b.line || a.column - b.column);
    const lines = remarks.map(({ kind, ...remark }) => formatRemark(remark, kind));
    const counts = [
      ...(problems.length > 0 ? [counted(problems.length, 'error')] : ['can be used']),
      ...(warnings.length > 0 ? [counted(warnings.length, 'warning')] : []),
    ];
    lines.push(`${file}: ${counts.join(', ')}`);
    if (verbose && problems.length === 0) lines.push(...plan);
    stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
  return exitCode;
}

async function check(file: string): Promise<{
  readonly problems: readonly ConfigurationRemark[];
  readonly warnings: readonly ConfigurationRemark[];
  readonly plan: readonly string[];
}> {
  try {
    const { configuration, ...remarks } = readConfiguration(file, await readConfigurationFile(file));
    return { ...remarks, plan: describeConfiguration(configuration) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { problems: error.problems, warnings: [], plan: [] };
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
