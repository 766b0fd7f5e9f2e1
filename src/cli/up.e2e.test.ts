import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TestProcess } from './testing/test-process.ts';

const running: TestProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill()));
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

function tutti(...parameters: readonly string[]): TestProcess {
  const process = new TestProcess(parameters);
  running.push(process);
  return process;
}

async function manifestFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-e2e-'));
  folders.push(folder);
  const file = join(folder, 'manifests.yaml');
  await writeFile(file, text);
  return file;
}

/** Occupies a port while `act` runs. Rejects with EADDRINUSE if another process uses it. */
async function withPortTaken<T>(port: number, act: (port: number) => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  try {
    return await act((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

/** Returns the time of the first matching line, in seconds. */
function timeOf(output: string, pattern: RegExp): number {
  const line = output.split('\n').find((each) => pattern.test(each));
  expect(line, `a line like ${String(pattern)} in\n${output}`).toBeDefined();
  return Number.parseFloat(line!);
}

const labelOnJob = `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: { name: red }
spec: { minMember: 2 }
---
apiVersion: batch/v1
kind: Job
metadata: { name: red, labels: { scheduling.x-k8s.io/pod-group: red } }
spec:
  completions: 2
  parallelism: 2
  template:
    metadata: { annotations: { sim.tutti.dev/run-duration: 100ms } }
    spec:
      restartPolicy: Never
      containers: [{ name: main, image: pause }]
`;

// Concurrent, because the tests mostly wait.
describe.concurrent('tutti up --exit', () => {
  it('shows that red is scheduled, blue is pending with its verdict, and blue is scheduled after red', async ({
    onTestFinished,
    expect,
  }) => {
    const up = new TestProcess(['up', '--exit']);
    onTestFinished(() => up.kill());
    const { exitCode } = await up.ended();
    const { stdout } = up;
    expect(up.stderr).toBe('');
    expect(exitCode).toBe(0);
    const redScheduled = timeOf(stdout, /red +SCHEDULED +3 of 3/);
    const bluePending = timeOf(stdout, /blue +pending +PodGroup default\/blue .*Insufficient cpu/);
    const redFinished = timeOf(stdout, /red +FINISHED +3 succeeded/);
    const blueScheduled = timeOf(stdout, /blue +SCHEDULED +3 of 3/);
    expect([redScheduled, bluePending, redFinished, blueScheduled]).toEqual(
      [redScheduled, bluePending, redFinished, blueScheduled].toSorted((a, b) => a - b),
    );
    // Each pod runs for two seconds. The view may see its start late, and its end at once.
    expect(redFinished - redScheduled).toBeGreaterThan(1);
    expect(stdout).toMatch(/^red +scheduled at .*3 succeeded$/m);
    expect(stdout).toMatch(/^blue +scheduled at .*3 succeeded$/m);
    expect(stdout).toMatch(/^0 partial starts$/m);
    expect(stdout).toMatch(/^scenario took [\d.]+s/m);
  });

  it('reports the deadlock with --naive, and exits with 3', async ({ onTestFinished, expect }) => {
    const up = new TestProcess(['up', '--naive', '--exit']);
    onTestFinished(() => up.kill());
    const { exitCode } = await up.ended();
    expect(exitCode).toBe(3);
    expect(up.stdout).toMatch(/DEADLOCK +red and blue are partially bound/);
    expect(up.stdout).toMatch(/^2 partial starts$/m);
    expect(up.stdout).not.toMatch(/SCHEDULED|FINISHED/);
  });

  it('has no deadlock with --naive if both groups fit', async ({ onTestFinished, expect }) => {
    const up = new TestProcess(['up', '--naive', '--exit', '--node-cpu', '3']);
    onTestFinished(() => up.kill());
    expect(await up.ended()).toMatchObject({ exitCode: 0 });
    expect(up.stdout).toMatch(/^0 partial starts$/m);
  });

  it('says that pods start one by one if the label is on their Job, and exits with 3', async ({
    onTestFinished,
    expect,
  }) => {
    const file = await manifestFile(labelOnJob);
    const up = new TestProcess(['up', '--exit', '-f', file]);
    onTestFinished(() => up.kill());
    const { exitCode } = await up.ended();
    expect(up.stdout).toMatch(
      /red +UNLABELED Job red has the label scheduling\.x-k8s\.io\/pod-group=red, but its pod template/,
    );
    expect(up.stdout).toContain('2 pods without the label of PodGroup red started one by one\n0 partial starts\n');
    expect(exitCode).toBe(3);
  });

  it('exits with 4 when the timeout expires', async ({ onTestFinished, expect }) => {
    const up = new TestProcess(['up', '--exit', '--timeout', '1500ms']);
    onTestFinished(() => up.kill());
    expect(await up.ended()).toMatchObject({ exitCode: 4 });
    expect(up.stdout).toContain('--timeout expired');
  });
});

describe('tutti up, with invalid input', () => {
  it('reports invalid manifests before it starts anything', async () => {
    const file = await manifestFile('apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nkind: Pod\n');
    const up = tutti('up', '--file', file);
    expect(await up.ended()).toMatchObject({ exitCode: 1 });
    expect(up.stderr).toContain(`${file}, document 2, line 5: apiVersion: must be a non-empty string`);
    expect(up.stdout).toBe('');
  });

  it('reports the field and line that the server rejects', async () => {
    const file = await manifestFile(
      'apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: red}\nspec:\n  minMember: 0\n',
    );
    const up = tutti('up', '--file', file);
    expect(await up.ended()).toMatchObject({ exitCode: 1 });
    expect(up.stderr).toMatch(/document 1, line 5: PodGroup red: spec\.minMember: /);
    expect(up.stderr).not.toContain('    at ');
  });

  it('reports a port that is in use, and how to choose another', async () => {
    await withPortTaken(0, async (port) => {
      const up = tutti('up', '--port', String(port));
      expect(await up.ended()).toMatchObject({ exitCode: 1 });
      expect(up.stderr).toMatch(new RegExp(`^tutti: .*port ${port}: .*another port`));
      expect(up.stderr).not.toContain('    at ');
    });
  });

  it('exits with 2 for an invalid flag', async () => {
    expect(await tutti('up', '--nodes', 'many').ended()).toMatchObject({ exitCode: 2 });
  });
});

describe('Ctrl-C', () => {
  it.each([
    ['while it starts', /^control plane at /m, []],
    ['while pods are created', /red-1$/m, []],
    ['in mid-scenario', /red +running/, []],
    ['in mid-scenario with --exit', /red +running/, ['--exit']],
    ['after the scenario', /stays up until Ctrl-C/, ['--node-cpu', '3']],
  ])('%s ends the process and leaves nothing behind', async (_when, moment, flags) => {
    const up = tutti('up', ...flags);
    await up.said(moment);
    up.signal('SIGINT');
    const { exitCode } = await up.ended();
    expect(exitCode).toBe(flags.includes('--exit') ? 130 : 0);
    expect(up.stderr).toBe('');
    const port = Number(/control plane at https:\/\/127\.0\.0\.1:(\d+)/.exec(up.stdout)?.[1]);
    await withPortTaken(port, () => Promise.resolve());
    expect(existsSync(/KUBECONFIG=(.*)/.exec(up.stdout)![1]!)).toBe(false);
  });

  it('is not necessary after the reader of the output closes the pipe', async () => {
    const up = tutti('up');
    await up.said(/control plane at/);
    up.closeStdout();
    expect(await up.ended()).toMatchObject({ exitCode: 0 });
  });
});
