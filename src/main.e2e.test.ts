import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packageFile, packageVersion } from './base/package-files.ts';
import { TestProcess } from './cli/testing/test-process.ts';

/** Runs `tutti --version` in a process that pretends to be this version of Node. */
async function onNode(version: string): Promise<{ stdout: string; stderr: string; exitCode: number | undefined }> {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const process = new TestProcess(['--version'], {
    environment: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(pretend)}` },
  });
  const { exitCode } = await process.ended();
  return { stdout: process.stdout, stderr: process.stderr, exitCode };
}

it.each(['20.20.2', '22.18.0'])('reports on Node %s the version that it needs and how to get it', async (version) => {
  const { stdout, stderr, exitCode } = await onNode(version);
  expect(exitCode).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain(`tutti needs Node 22.19 or newer; this is Node ${version}`);
  expect(stderr).toContain('npm ci && npm start');
});

it.each(['22.19.0', '23.0.0', '100.1.0'])('runs on Node %s', async (version) => {
  expect(await onNode(version)).toEqual({ stdout: `${packageVersion()}\n`, stderr: '', exitCode: 0 });
});

it('runs in the image with the flags of its first line', () => {
  const [line = ''] = readFileSync(new URL('main.ts', import.meta.url), 'utf8').split('\n', 1);
  const [, variable = '', flags = ''] = /^#!\/usr\/bin\/env -S (\w+=\d+) node (.+)$/.exec(line) ?? [];
  const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8');
  const [, entry = '[]'] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? [];
  expect((JSON.parse(entry) as string[]).slice(1, -1)).toEqual(flags.split(' '));
  expect(dockerfile).toMatch(new RegExp(`^ENV .*${variable}$`, 'm'));
});

it('writes all of a long output to a pipe before it exits', async () => {
  const file = packageFile('examples', 'reservations', 'scheduler.yaml');
  const files = Array.from({ length: 3_000 }, () => file);
  const process = new TestProcess(['config', 'check', '--output', 'json', ...files]);
  expect(await process.ended()).toMatchObject({ exitCode: 0 });
  expect(process.stdout.length).toBeGreaterThan(256 * 1024);
  expect(process.stdout).toMatch(/\n}\n$/);
});
