// Runs all static checks. Runs all steps even if one fails, so that one run shows all problems. `npm run check -- lint types` runs only
// these steps; `--changed` runs the steps that the changed files require. The last line is `N passed, N failed`.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changedFiles, RevisionError } from './changed-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Step {
  readonly command: readonly string[];
  /** Matches changed files that require the step. Without it, --changed skips the step. */
  readonly changed?: RegExp;
  /** With --changed, the matching files that exist replace the last word of the command. */
  readonly perFile?: boolean;
}

const sources = /^(src|test|bench|scripts)\/.*\.ts$/;
const generated = /^(src|scripts|crds|charts|deploy|docs)\//;

/** The slowest steps come first, so that they overlap with the others. */
const steps: Readonly<Record<string, Step>> = {
  lint: { command: ['eslint', '--no-warn-ignored', '.'], changed: /\.(ts|[cm]?js)$/, perFile: true },
  types: {
    command: ['tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', '.cache/check/types.tsbuildinfo'],
    changed: /\.(ts|json)$/,
  },
  page: { command: ['tsc', '-p', 'src/ui'], changed: /^src\/(ui|api|base)\// },
  format: {
    command: [
      ...['prettier', '--check', '--log-level', 'warn', '--ignore-unknown'],
      ...['--cache', '--cache-location', '.cache/check/prettier', '.'],
    ],
    changed: /./,
    perFile: true,
  },
  unused: { command: ['knip', '--no-progress'] },
  cases: { command: ['node', 'scripts/check-cases.ts'], changed: /\.test\.ts$|^test\/scenarios\// },
  layers: { command: ['node', 'scripts/check-layers.ts'], changed: sources },
  prose: { command: ['node', 'scripts/check-prose.ts'], changed: /\.(ts|md|ya?ml|tpl|txt)$/ },
  crds: { command: ['node', 'scripts/generate-crd.ts', '--check'], changed: generated },
  schemas: { command: ['node', 'scripts/generate-schemas.ts', '--check'], changed: /^(src\/api|schemas|scripts)\// },
  chart: { command: ['node', 'scripts/generate-chart.ts', '--check'], changed: generated },
  metrics: { command: ['node', 'scripts/generate-metrics-page.ts', '--check'], changed: generated },
  picture: {
    command: ['node', 'scripts/generate-timeline-picture.ts', '--check'],
    changed: /^(src\/(ui|api)|scripts|docs|test\/ui)\//,
  },
  reference: { command: ['node', 'scripts/generate-reference.ts', '--check'], changed: generated },
};

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

/** Runs a command with the tools of this package first in PATH, and returns its output. Never rejects. */
function run([program, ...words]: readonly string[]): Promise<Outcome> {
  const started = performance.now();
  const path = `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`;
  return new Promise((resolve) => {
    const child = spawn(program!, words, { cwd: root, env: { ...process.env, PATH: path } });
    let output = '';
    const end = (passed: boolean): void => {
      resolve({ passed, output: output.trim(), seconds: (performance.now() - started) / 1000 });
    };
    child.stdout.on('data', (data: unknown) => (output += String(data)));
    child.stderr.on('data', (data: unknown) => (output += String(data)));
    child.on('error', (error) => {
      output += String(error);
      end(false);
    });
    child.on('close', (code) => {
      end(code === 0);
    });
  });
}

/** Prints the problem and the usage, and exits. */
function reject(problem: string): never {
  console.error(
    `${problem}\nusage: npm run check -- [--changed [--base REVISION]] [${Object.keys(steps).join(' | ')}] …`,
  );
  process.exit(2);
}

function readArguments(): { readonly selected: readonly string[]; readonly changed: readonly string[] | undefined } {
  try {
    const { values, positionals } = parseArgs({
      options: { changed: { type: 'boolean', default: false }, base: { type: 'string' } },
      allowPositionals: true,
    });
    const unknown = positionals.filter((name) => !Object.hasOwn(steps, name));
    if (unknown.length > 0) reject(`unknown check: ${unknown.join(', ')}`);
    if (values.base !== undefined && !values.changed) reject('--base requires --changed');
    return { selected: positionals, changed: values.changed ? changedFiles(root, values.base) : undefined };
  } catch (error) {
    if (error instanceof RevisionError || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS')) {
      reject((error as Error).message);
    }
    throw error;
  }
}

/** Returns the command of a step, or undefined if no changed file requires it. */
function commandOf(step: Step, changed: readonly string[] | undefined): readonly string[] | undefined {
  if (changed === undefined) return step.command;
  const files = changed.filter((path) => step.changed?.test(path) && !(step.perFile && !existsSync(`${root}${path}`)));
  if (files.length === 0) return undefined;
  return step.perFile ? [...step.command.slice(0, -1), '--', ...files] : step.command;
}

const { selected, changed } = readArguments();
if (changed !== undefined) console.log(`${changed.length} changed files`);
const waiting = Object.entries(steps).flatMap(([name, step]) => {
  const command = selected.length === 0 || selected.includes(name) ? commandOf(step, changed) : undefined;
  return command === undefined ? [] : [{ name, command }];
});
let [passed, failed] = [0, 0];
async function work(): Promise<void> {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    const { name, command } = step;
    const outcome = await run(command);
    console.log(`${outcome.passed ? 'ok    ' : 'FAILED'} ${name} (${outcome.seconds.toFixed(1)} s)`);
    if (outcome.passed) passed++;
    else {
      failed++;
      console.log(`${outcome.output}\n`);
    }
  }
}
await Promise.all([work(), work()]);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
