// Everything that can be said about the sources without running them. All steps run, so that one run shows all that is
// wrong; `npm run check -- lint types` runs some. Ends with the line `N passed, N failed`.
import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Step -> its command; the slowest first, so that they overlap with the rest. */
const steps: Readonly<Record<string, string>> = {
  lint: 'eslint .',
  types: 'tsc -p .',
  format: 'prettier --check --log-level warn .',
  cases: 'node scripts/check-cases.ts',
  unused: 'knip --no-progress',
  layers: 'node scripts/check-layers.ts',
  crds: 'node scripts/generate-crd.ts --check',
  chart: 'node scripts/generate-chart.ts --check',
  metrics: 'node scripts/generate-metrics-page.ts --check',
  reference: 'node scripts/generate-reference.ts --check',
};

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

/** Runs a command with the tools of this package first on the path, and keeps what it says. Never rejects. */
function run(command: string): Promise<Outcome> {
  const started = performance.now();
  const path = `${root}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`;
  return new Promise((resolve) => {
    const child = spawn(command, { cwd: root, env: { ...process.env, PATH: path }, shell: true });
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

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  console.error(`no such check: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

const waiting = Object.entries(steps).filter(([name]) => asked.length === 0 || asked.includes(name));
let [passed, failed] = [0, 0];
async function work(): Promise<void> {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    const [name, command] = step;
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
