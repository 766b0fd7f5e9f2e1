import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { defaultsAt } from '../config/testing/defaults-at.ts';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import { freshHome } from './testing/fresh-home.ts';
import type { TestProcess } from './testing/test-process.ts';

const home = freshHome('config');

function tutti(...parameters: readonly string[]): TestProcess {
  return home.tutti(parameters);
}

/** Returns the output of a process that must end with this exit code. */
async function outputOf(exitCode: number, ...parameters: readonly string[]): Promise<string> {
  const process = tutti(...parameters);
  expect(await process.ended()).toMatchObject({ exitCode });
  return process.stdout + process.stderr;
}

async function file(name: string, ...lines: readonly string[]): Promise<string> {
  const path = join(home.path, name);
  const header = ['apiVersion: kubescheduler.config.k8s.io/v1', 'kind: KubeSchedulerConfiguration'];
  await writeFile(path, [...header, ...lines, ''].join('\n'));
  return path;
}

describe('tutti scheduler --config', () => {
  it('runs the profiles of the file on its cluster, and logs fields without effect', async () => {
    const plane = await openEmbeddedPlane();
    try {
      const config = await file(
        'scheduler.yaml',
        'parallelism: 4',
        'clientConnection:',
        `  kubeconfig: ${JSON.stringify(plane.kubeconfigPath)}`,
        'profiles:',
        '- schedulerName: batch',
        '- schedulerName: interactive',
        '  plugins: {multiPoint: {disabled: [{name: Coscheduling}]}}',
      );
      const flags = ['--kubeconfig', '/does/not/exist', '--kube-api-qps', '3', '--scheduler-name', 'x', '-v', '4'];
      const process = tutti('scheduler', '--config', config, ...flags, '--secure-port', '0', '--log-format', 'json');
      await process.said(/"schedulerNames":"batch,interactive"/);
      expect(process.stderr).toContain(
        `${config}:3:1: parallelism has no effect: a scheduling cycle runs on one thread`,
      );
      for (const flag of ['--kubeconfig', '--kube-api-qps', '--scheduler-name']) {
        expect(process.stderr).toContain(`"flag":"${flag}","time"`);
      }
      process.signal('SIGTERM');
      expect(await process.ended()).toMatchObject({ exitCode: 0 });
    } finally {
      await plane.stop();
    }
  });

  it('reports every error of the file, and does not start', async () => {
    const config = await file('scheduler.yaml', 'paralellism: 4', 'profiles:', '- schedulerName: ""');
    expect(await outputOf(1, 'scheduler', '--config', config)).toMatch(
      new RegExp(
        `^tutti: invalid configuration:\n  ${config}:3:1: paralellism is not a known field; did you mean parallelism\\? .*\n` +
          `  ${config}:5:3: profiles\\[0\\]\\.schedulerName must not be empty: pods select the profile by this name\n$`,
      ),
    );
  });

  it('names the field of the file whose kubeconfig is missing', async () => {
    const config = await file('scheduler.yaml', 'clientConnection: {kubeconfig: /does/not/exist}');
    expect(await outputOf(1, 'scheduler', '--config', config)).toBe(
      `tutti: kubeconfig /does/not/exist does not exist: set an existing file with clientConnection.kubeconfig of ${config}\n`,
    );
  });

  it('does not start with an extender that sets preemptVerb', async () => {
    const plane = await openEmbeddedPlane();
    try {
      const config = await file(
        'scheduler.yaml',
        `clientConnection: {kubeconfig: ${JSON.stringify(plane.kubeconfigPath)}}`,
        'extenders: [{urlPrefix: "http://127.0.0.1:1", preemptVerb: preempt}]',
      );
      expect(await outputOf(1, 'scheduler', '--config', config, '--secure-port', '0')).toMatch(
        /scheduler\.yaml:4:\d+: extenders\[0\]\.preemptVerb is not supported yet: remove it/,
      );
    } finally {
      await plane.stop();
    }
  });
});

describe("kube-scheduler's Lease", () => {
  it.each([
    ['profiles: [{schedulerName: batch}]', true],
    ['profiles: [{schedulerName: batch}, {schedulerName: default-scheduler}]', false],
    ['profiles: [{schedulerName: batch}]\nleaderElection: {resourceName: batch}', false],
  ])('causes a warning, with %j: %s', async (text, isWarned) => {
    const plane = await openEmbeddedPlane();
    try {
      const connection = `clientConnection: {kubeconfig: ${JSON.stringify(plane.kubeconfigPath)}}`;
      const config = await file('lease.yaml', connection, text);
      const process = tutti('scheduler', '--config', config, '--secure-port', '0');
      await process.said(/became leader/);
      process.signal('SIGTERM');
      expect((await process.ended()).exitCode).toBe(0);
      expect(process.stderr.includes("the Lease is kube-scheduler's own")).toBe(isWarned);
    } finally {
      await plane.stop();
    }
  });
});

describe('tutti scheduler --write-config-to', () => {
  it('writes a valid configuration from a file or from flags', async () => {
    const config = await file('scheduler.yaml', 'podMaxBackoffSeconds: 60', 'leaderElection: {leaderElect: false}');
    const written = join(home.path, 'written.yaml');
    expect(await outputOf(0, 'scheduler', '--config', config, '--write-config-to', written)).toBe('');
    expect(await readFile(written, 'utf8')).toMatch(/podMaxBackoffSeconds: 60[^]*schedulerName: default-scheduler/);
    expect(await outputOf(0, 'config', 'check', written)).toBe(`${written}: valid\n`);
    await outputOf(0, 'scheduler', '--scheduler-name', 'mine', '--kube-api-qps', '0', '--write-config-to', written);
    expect(await readFile(written, 'utf8')).toMatch(/qps: -1[^]*schedulerName: mine/);
  });

  it('writes the leader election settings, in which flags override the file', async () => {
    const written = join(home.path, 'election.yaml');
    const electionOf = async (...parameters: readonly string[]): Promise<object> => {
      expect(await outputOf(0, 'scheduler', ...parameters, '--write-config-to', written)).toBe('');
      return (parse(await readFile(written, 'utf8')) as { leaderElection: object }).leaderElection;
    };
    const both = { resourceName: 'tutti-scheduler-a-b', resourceNamespace: 'kube-system', leaderElect: true };
    expect(await electionOf('--scheduler-name', 'b', '--scheduler-name', 'a')).toMatchObject(both);
    expect(await electionOf('--scheduler-name', 'a', '--scheduler-name', 'b')).toMatchObject(both);
    const config = await file('election-file.yaml', 'leaderElection: {renewDeadline: 5s, resourceName: mine}');
    const flags = ['--leader-elect', 'false', '--leader-elect-renew-deadline=7s'];
    expect(await electionOf('--config', config, ...flags)).toMatchObject({
      leaderElect: false,
      renewDeadline: '7s',
      resourceName: 'mine',
    });
  });

  it('reports why it cannot write', async () => {
    expect(await outputOf(1, 'scheduler', '--write-config-to', join(home.path, 'missing', 'file'))).toBe(
      `tutti: cannot write the configuration to ${home.path}/missing/file: no such directory. Use the path of a writable file\n`,
    );
  });
});

describe('tutti config check', () => {
  it('prints the errors and warnings as JSON', async () => {
    const good = await file('good.yaml', 'parallelism: 4');
    const bad = await file('bad.yaml', 'parallelism: 0');
    const warning = {
      line: 3,
      column: 1,
      field: 'parallelism',
      message: expect.stringContaining('no effect') as string,
    };
    expect(JSON.parse(await outputOf(1, 'config', 'check', '-o', 'json', good, bad))).toMatchObject({
      files: [
        { file: good, valid: true, errors: [], warnings: [warning] },
        { file: bad, valid: false, errors: [{ line: 3, field: 'parallelism' }] },
      ],
    });
  });

  it('prints every error and warning of every file', async () => {
    const good = await file('good.yaml', 'parallelism: 4');
    const bad = await file('bad.yaml', 'percentageOfNodesToScore: 50', 'parallelism: 0');
    const missing = join(home.path, 'missing.yaml');
    expect(await outputOf(1, 'config', 'check', good, bad, missing)).toBe(
      [
        `${good}:3:1: warning: parallelism has no effect: a scheduling cycle runs on one thread`,
        `${good}: valid, 1 warning`,
        `${bad}:3:1: warning: percentageOfNodesToScore has no effect: Tutti considers every node`,
        `${bad}:4:1: error: parallelism must be a whole number from 1 to 2147483647, not 0`,
        `${bad}: 1 error, 1 warning`,
        `${missing}: error: the file does not exist`,
        `${missing}: 1 error`,
        '',
      ].join('\n'),
    );
  });

  it('prints profiles and plugins with --verbose', async () => {
    const good = await file(
      'good.yaml',
      'profiles: [{schedulerName: batch, plugins: {score: {disabled: [{name: "*"}]}}}]',
    );
    expect(await outputOf(0, 'config', 'check', '--verbose', good)).toBe(
      [
        `${good}: valid`,
        'profile batch',
        '  preEnqueue: SchedulingGates, Coscheduling',
        '  queueSort: PrioritySort',
        `  preFilter: ${defaultsAt('preFilter')}`,
        `  filter: ${defaultsAt('filter')}`,
        '  postFilter: DefaultPreemption',
        `  preScore: ${defaultsAt('preScore')}`,
        '  reserve: VolumeBinding, Coscheduling',
        '  permit: Coscheduling',
        '  preBind: VolumeBinding',
        '  bind: DefaultBinder',
        '',
      ].join('\n'),
    );
  });

  it('accepts your own plugins, and reports errors that occur only when it creates them', async () => {
    const plugin = join(home.path, 'zone.mjs');
    await writeFile(
      plugin,
      `const argumentsSchema = { type: 'object', additionalProperties: false, properties: { label: { type: 'string', default: 'zone' } } };
      export default { name: 'Zone', argumentsSchema, factory: () => ({ name: 'Zone', score: () => 1 }) };`,
    );
    const broken = join(home.path, 'broken.mjs');
    await writeFile(broken, "export default { name: 'Broken', factory: () => { throw new Error('no disk'); } };");
    const both = ['--plugin', plugin, '--plugin', broken];
    const score = 'plugins: {score: {enabled: [{name: Zone, weight: 3}], disabled: [{name: "*"}]}}';
    const good = await file(
      'good.yaml',
      'profiles:',
      `- ${score}`,
      '  pluginConfig: [{name: Zone, args: {label: rack}}]',
    );
    expect(await outputOf(1, 'config', 'check', good)).toContain('is "Zone", which is not a known plugin');
    const output = await outputOf(0, 'config', 'check', '--verbose', ...both, good);
    expect(output).toContain(`${good}: valid\n`);
    expect(output).toContain('\n  score: Zone(3)\n');

    const args = await file(
      'args.yaml',
      'profiles:',
      `- ${score}`,
      '  pluginConfig: [{name: Zone, args: {labels: rack}}]',
    );
    expect(await outputOf(1, 'config', 'check', ...both, args)).toBe(
      `${args}:5:38: error: profiles[0].pluginConfig[0].args.labels is not a known field; did you mean label?\n` +
        `${args}: 1 error\n`,
    );

    const points = await file(
      'points.yaml',
      'profiles:',
      '- schedulerName: a',
      '  plugins: {filter: {enabled: [{name: Zone}]}, multiPoint: {enabled: [{name: Broken}]}}',
      '- schedulerName: b',
      '  plugins:',
      '    permit: {enabled: [{name: Zone}, {name: Broken}]}',
    );
    const report = await outputOf(1, 'config', 'check', ...both, points);
    const [thrownIn] = /\n {4}at .*factory \(file:.*broken\.[a-z]+:1:\d+\)/.exec(report) ?? ['no stack'];
    expect(report).toBe(
      [
        `${points}:5:33: error: profiles[0].plugins.filter.enabled[0].name cannot be used: plugin Zone does not implement filter; it implements score`,
        `${points}:5:72: error: profiles[0].plugins.multiPoint.enabled[0].name cannot be used: plugin Broken could not be created: no disk${thrownIn}`,
        `${points}:8:25: error: profiles[1].plugins.permit.enabled[0].name cannot be used: plugin Zone does not implement permit; it implements score`,
        `${points}:8:39: error: profiles[1].plugins.permit.enabled[1].name cannot be used: plugin Broken could not be created: no disk${thrownIn}`,
        `${points}: 4 errors`,
        '',
      ].join('\n'),
    );
  });

  it('requires a file', async () => {
    expect(await outputOf(2, 'config', 'check')).toContain('See "tutti config check --help"');
  });
});
