import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../api/explain/snapshot.ts';
import { packSnapshot } from '../../../compose/snapshot/snapshot-file.ts';
import { snapshotOf } from '../../../compose/snapshot/testing/snapshot-of.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';
import { expectValidAnswer } from '../../../../test/expect/valid-answer.ts';
import { CommandInProcess } from '../../testing/command-in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'tutti-replay-'));
let snapshot: Snapshot;

afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  const c = new Scheduling({ plugins: defaultPlugins });
  for (const name of ['n0', 'n1']) c.node({ name, cpu: 4 });
  c.pod({ name: 'old', nodeName: 'n0', cpu: 3, labels: { app: 'old' } });
  c.group({ name: 'red', minMember: 2 });
  c.members(2, { group: 'red', cpu: 3 });
  while ((await c.attempt()) !== undefined);
  c.pod({ name: 'new', cpu: 1 });
  snapshot = snapshotOf(c.harness.core);
});

function file(name: string, content: Snapshot | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content instanceof Uint8Array ? content : packSnapshot(content));
  return path;
}

async function tutti(
  ...parameters: readonly string[]
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const command = new CommandInProcess(parameters);
  const exitCode = await command.ended;
  return { exitCode, stdout: command.stdout, stderr: command.stderr };
}

describe('tutti explain --snapshot', () => {
  it('WI22: exits with 0 if all plans and verdicts are the same, and counts them', async () => {
    const { exitCode, stdout, stderr } = await tutti('explain', '--snapshot', file('same.gz', snapshot));
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^2 entities wait in the snapshot, taken \S+ ago by Tutti 1\.2\.3$/m);
    expect(stdout).toContain('plans: 2 the same, 0 different, 0 not recorded');
    expect(stdout).toContain('verdicts: 1 the same, 0 different, 1 not recorded');
  });

  it('WI23: exits with 5 and prints what differs if a node is another one', async () => {
    const nodes = snapshot.nodes.map((node) => ({ ...node, unschedulable: true }));
    const path = file('changed.gz', { ...snapshot, nodes });
    const { exitCode, stdout } = await tutti('explain', '--snapshot', path);
    expect(exitCode).toBe(5);
    expect(stdout).toContain('group default/red  differs  differs');
    expect(stdout).toContain('default/new plan.fits\n  - true\n  + false\n');
    const json = await tutti('explain', 'group/red', '--snapshot', path, '-o', 'json');
    const replay = JSON.parse(json.stdout) as Parameters<typeof expectValidAnswer>[0];
    expectValidAnswer(replay);
    expect(replay).toMatchObject({
      basis: { source: 'snapshot' },
      items: [{ subject: { name: 'red' }, plan: 'differs' }],
    });
  });

  it('WI23: exits with 1 and one sentence if the file cannot be read', async () => {
    const bytes = packSnapshot(snapshot);
    const [truncated, newer] = [file('short.gz', bytes.subarray(0, 99)), file('newer.gz', { ...snapshot, format: 7 })];
    const causes: Readonly<Record<string, string>> = {
      [truncated]: 'the snapshot is damaged: the file ends too early',
      [newer]: 'the snapshot was written by a newer Tutti (format 7; this one reads up to 1)',
      [join(folder, 'none.gz')]: 'ENOENT',
    };
    for (const [path, cause] of Object.entries(causes)) {
      const { exitCode, stdout, stderr } = await tutti('explain', '--snapshot', path);
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toContain(cause);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  it('exits with 1 if nothing of that name waits, and with 2 without a file', async () => {
    const { exitCode, stderr } = await tutti('explain', 'green', '--snapshot', file('same.gz', snapshot));
    expect([exitCode, stderr]).toEqual([1, 'tutti: no pod group and no pod named green waits in the snapshot\n']);
    expect((await tutti('explain')).exitCode).toBe(2);
  });
});

describe('answers from a snapshot', () => {
  it('tell why a group waits', async () => {
    const { exitCode, stdout } = await tutti('why', 'red', '--snapshot', file('why.gz', snapshot), '-o', 'json');
    expect(exitCode).toBe(0);
    const explanation = JSON.parse(stdout) as Parameters<typeof expectValidAnswer>[0];
    expectValidAnswer(explanation);
    expect(explanation).toMatchObject({ basis: { source: 'snapshot' }, placed: 1, needed: 2, attempts: 1, ahead: 0 });
  });

  it('show the queue with its attempts', async () => {
    const { exitCode, stdout } = await tutti('queue', '--snapshot', file('queue.gz', snapshot), '-o', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      basis: { source: 'snapshot' },
      items: [
        { position: 1, subject: { name: 'red' }, state: 'unschedulable', attempts: 1 },
        { position: 2, subject: { name: 'new' }, state: 'active', attempts: 0 },
      ],
    });
  });

  it('forecast a drain', async () => {
    const { exitCode, stdout } = await tutti(
      'drain-check',
      'n0',
      '--snapshot',
      file('drain.gz', snapshot),
      '-o',
      'json',
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ basis: { source: 'snapshot' }, nodes: ['n0'] });
  });

  it('plan a workload', async () => {
    const manifest = join(folder, 'pod.yaml');
    const container = { name: 'main', image: 'x', resources: { requests: { cpu: 1 } } };
    const spec = { schedulerName: 'default-scheduler', containers: [container] };
    writeFileSync(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'planned' }, spec }));
    const parameters = ['plan', '-f', manifest, '--snapshot', file('plan.gz', snapshot), '-o', 'json'];
    const { exitCode, stdout, stderr } = await tutti(...parameters);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      basis: { source: 'snapshot' },
      admission: 'local',
      items: [{ subject: { name: 'planned' }, fits: true }],
    });
  });
});
