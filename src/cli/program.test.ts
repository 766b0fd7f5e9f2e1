import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { defaultSecureServing } from '../serving/secure-serving-options.ts';
import { commandExamples } from './command-examples.ts';
import { createProgram } from './program.ts';
import type { Commands } from './program.ts';
import { rejectedFlags } from './rejected-flags.ts';

interface Outcome {
  readonly command?: string;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** What commander printed. */
  readonly message: string;
  readonly exitCode: number;
}

async function parse(line: string, name?: string): Promise<Outcome> {
  let message = '';
  const called: { command?: string; flags?: Readonly<Record<string, unknown>> } = {};
  const command =
    (name: string) =>
    (flags: object): Promise<number> => {
      Object.assign(called, { command: name, flags: { ...flags } });
      return Promise.resolve(7);
    };
  let exitCode = -1;
  const program = createProgram(
    {
      up: command('up'),
      scheduler: command('scheduler'),
      controller: command('controller'),
      configCheck: (files, flags) => command('config check')({ files, ...flags }),
      verify: command('verify'),
      status: (subjects, flags) => command('status')({ subjects, ...flags }),
      why: (subject, flags) => command('why')({ subject, ...flags }),
      plan: command('plan'),
      drainCheck: (nodes, flags) => command('drain-check')({ nodes, ...flags }),
      queue: command('queue'),
      snapshot: command('snapshot'),
      explain: (subject, flags) => command('explain')({ subject, ...flags }),
      version: command('version'),
      timeline: (subjects, flags) => command('timeline')({ subjects, ...flags }),
      ui: command('ui'),
      completion: (shell) => command('completion')({ shell }),
    },
    (code) => {
      exitCode = code;
    },
    name,
  );
  for (const each of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) {
    each.configureOutput({ writeOut: (text) => (message += text), writeErr: (text) => (message += text) });
  }
  try {
    await program.parseAsync(line.split(' ').filter(Boolean), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exitCode = error.exitCode;
  }
  return { ...called, message, exitCode };
}

describe('tutti status', () => {
  it('takes groups and pods, and prints a table by default', async () => {
    const { flags } = await parse('status red pod/red-5 podgroup.scheduling.x-k8s.io/blue -A -l team=a');
    expect(flags).toEqual({
      subjects: [
        { name: 'red' },
        { name: 'red-5', kind: 'Pod' },
        { name: 'blue', kind: 'PodGroup', source: 'scheduling.x-k8s.io' },
      ],
      allNamespaces: true,
      selector: 'team=a',
      ...{ output: 'table', headers: true, color: 'auto' },
    });
    expect((await parse('status')).flags).toMatchObject({ subjects: [] });
  });

  it.each(['status node/a', 'status Red', 'status a/b/c', 'status -o xml', 'status -n Default', 'queue --source x'])(
    'rejects %s',
    async (line) => {
      const { exitCode, command } = await parse(line);
      expect([exitCode, command]).toEqual([1, undefined]);
    },
  );

  it('shows how kubectl calls it', async () => {
    const { message } = await parse('status --help', 'kubectl tutti');
    expect(message).toContain('Usage: kubectl tutti status [options] [name...]');
    expect(message).toContain('  kubectl tutti status train --namespace ml\n');
    expect(message).not.toMatch(/^ *tutti /m);
    expect((await parse('status --nope', 'kubectl tutti')).message).toContain('See "kubectl tutti status --help".');
  });
});

describe('tutti ui', () => {
  it('takes the flags that reach the scheduler, and a port', async () => {
    expect((await parse('ui')).flags).toEqual({ port: 0 });
    const { flags } = await parse('ui --port 8080 --scheduler-token-file t --insecure-skip-scheduler-tls-verify');
    expect(flags).toEqual({ port: 8080, schedulerTokenFile: 't', insecureSkipSchedulerTlsVerify: true });
    expect((await parse('ui --port 70000')).exitCode).toBe(1);
  });
});

describe('tutti up', () => {
  it('adds resources to nodes', async () => {
    const { flags } = await parse('up --node-resource nvidia.com/gpu=8 --node-resource ephemeral-storage=100Gi');
    expect(flags).toMatchObject({ nodeResource: { 'nvidia.com/gpu': '8', 'ephemeral-storage': '100Gi' } });
    expect((await parse('up --nodes 0')).flags).toMatchObject({ nodes: 0 });
  });

  it.each([
    ['nvidia.com/gpu', 'It must be a resource and its amount, such as nvidia.com/gpu=8.'],
    ['=8', 'It must be a resource and its amount, such as nvidia.com/gpu=8.'],
    ['nvidia.com/gpu=', 'The amount of nvidia.com/gpu must be a whole number, such as 8.'],
    ['nvidia.com/gpu=many', 'The amount of nvidia.com/gpu must be a whole number, such as 8.'],
    ['nvidia.com/gpu=500m', 'The amount of nvidia.com/gpu must be a whole number, such as 8.'],
    ['nvidia.com/gpu=0', 'It must be a Kubernetes quantity greater than zero, such as 8 or 100Gi.'],
    [
      'gpu=8',
      'The resource must be ephemeral-storage, hugepages-<size> or a name with a domain prefix, such as nvidia.com/gpu.',
    ],
    ['a/b/c=8', 'The resource must be ephemeral-storage'],
    ['cpu=8', 'Use --node-cpu for cpu.'],
    ['constructor=8', 'The resource must be'],
    ['a.b/c=1 --node-resource a.b/c=2', 'a.b/c is set twice'],
  ])('rejects --node-resource %s with the expected value', async (value, message) => {
    const outcome = await parse(`up --node-resource ${value}`);
    expect(outcome).toMatchObject({ exitCode: 1, message: expect.stringContaining(message) });
  });

  it.each([
    ['--empty -f a.yaml', '--empty cannot be combined with -f'],
    ['--empty --exit', '--exit cannot be combined with --empty: there is no scenario to wait for.'],
    [
      '--no-scheduler --exit',
      '--exit cannot be combined with --no-scheduler: without a scheduler the scenario never ends.',
    ],
    ['--no-scheduler --naive', '--naive cannot be combined with --no-scheduler'],
    ['--no-scheduler --plugin a.ts', '--plugin cannot be combined with --no-scheduler'],
  ])('rejects the combination %s', async (flags, message) => {
    expect(await parse(`up ${flags}`)).toMatchObject({ exitCode: 1, message: expect.stringContaining(message) });
  });
});

describe('createProgram', () => {
  it('uses the documented defaults', async () => {
    expect(await parse('up')).toMatchObject({
      exitCode: 7,
      flags: {
        scheduler: true,
        nodeCpu: '2',
        nodeMemory: '8Gi',
        nodePods: 110,
        port: 0,
        timeout: 120_000,
        logLevel: 'warn',
        logFormat: 'text',
      },
    });
    const flags = { kubeApiQps: 50, kubeApiBurst: 100, maxRepairGrace: 300_000, logLevel: 'info' };
    const server = { ...flags, ...defaultSecureServing };
    expect((await parse('scheduler')).flags).toEqual({ ...server, securePort: 10259, logFormat: 'text' });
    expect((await parse('controller')).flags).toEqual({
      ...server,
      ...{ securePort: 10260, workers: 4, nativePodGroups: true, logFormat: 'text' },
    });
  });

  it('parses the flags of up and scheduler', async () => {
    expect((await parse('up --exit --naive -f a.yaml --file b --node-cpu 1500m --timeout 1m30s')).flags).toMatchObject({
      exit: true,
      naive: true,
      file: ['a.yaml', 'b'],
      nodeCpu: '1500m',
      timeout: 90_000,
    });
    const line =
      'scheduler --kubeconfig k --context c --scheduler-name a --scheduler-name b --kube-api-qps 2.5 -v debug';
    expect((await parse(line)).flags).toMatchObject({
      kubeconfig: 'k',
      context: 'c',
      schedulerName: ['a', 'b'],
      kubeApiQps: 2.5,
      logLevel: 'debug',
    });
  });

  it('parses the schedulers whose PodGroups of Kubernetes the controller writes', async () => {
    const { flags } = await parse('controller --scheduler-name a --scheduler-name b');
    expect(flags).toMatchObject({ schedulerName: ['a', 'b'], nativePodGroups: true });
    expect((await parse('controller --no-native-pod-groups')).flags).toMatchObject({ nativePodGroups: false });
  });

  it('parses serving flags as kube-scheduler does', async () => {
    const line =
      'controller --secure-port 0 --bind-address :: --authentication-skip-lookup --authentication-tolerate-lookup-failure=false ' +
      '--authorization-always-allow-paths=/livez,metrics/* --authorization-webhook-cache-authorized-ttl=0 ' +
      '--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 --tls-min-version VersionTLS13';
    expect((await parse(line)).flags).toMatchObject({
      securePort: 0,
      bindAddress: '::',
      authenticationSkipLookup: true,
      authenticationTolerateLookupFailure: false,
      authorizationAlwaysAllowPaths: ['/livez', '/metrics/*'],
      authorizationWebhookCacheAuthorizedTtl: 0,
      tlsCipherSuites: ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
      tlsMinVersion: 'VersionTLS13',
    });
  });

  it('lists the scheduler flags that the user set and a configuration file overrides', async () => {
    const line = 'scheduler --config f.yaml --kube-api-burst 7 --kubeconfig k --context c --write-config-to w.yaml';
    const { flags } = await parse(line);
    expect(flags).toMatchObject({ config: 'f.yaml', writeConfigTo: 'w.yaml', context: 'c' });
    expect(flags!.overruled).toEqual(['--kubeconfig', '--kube-api-burst']);
    expect((await parse('scheduler --config f.yaml')).flags).not.toHaveProperty('overruled');
    expect((await parse('scheduler --kubeconfig k')).flags).not.toHaveProperty('overruled');
  });

  it.each([
    ['-v 0', 'info'],
    ['--v=3', 'info'],
    ['-v 4', 'debug'],
    ['-v=4', 'debug'],
    ['--v 10', 'debug'],
    ['-v warn', 'warn'],
    ['--log-level error', 'error'],
  ])("maps kube-scheduler's verbosity: %s is %s", async (flag, logLevel) => {
    expect((await parse(`scheduler ${flag}`)).flags).toMatchObject({ logLevel });
    expect((await parse(`up ${flag}`)).flags).toMatchObject({ logLevel });
  });

  it.each([
    [
      'kubeadm',
      '--authentication-kubeconfig=s.conf --authorization-kubeconfig=s.conf --bind-address=127.0.0.1 --kubeconfig=s.conf --leader-elect=true',
    ],
    [
      'hardened clusters',
      '--permit-port-sharing=true --authentication-kubeconfig=s.conf --authorization-kubeconfig=s.conf --bind-address=127.0.0.1 ' +
        '--kubeconfig=s.conf --profiling=false --secure-port=10259 --tls-min-version=VersionTLS12 ' +
        '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 --tls-cert-file=t.crt --tls-private-key-file=t.key -v=2',
    ],
  ])('accepts the flags that %s set for kube-scheduler', async (_, line) => {
    const { command, flags } = await parse(`scheduler ${line}`);
    expect(command).toBe('scheduler');
    expect(flags).toMatchObject({ kubeconfig: 's.conf', bindAddress: '127.0.0.1', authenticationKubeconfig: 's.conf' });
  });

  it("accepts kube-scheduler's flags that match what Tutti does anyway", async () => {
    const line =
      '--profiling=false --contention-profiling=false --disable-http2-serving --http2-max-streams-per-connection=42 ' +
      '--permit-address-sharing --permit-port-sharing=true --log-flush-frequency=5s --logging-format=json';
    for (const command of ['scheduler', 'controller']) {
      expect((await parse(`${command} ${line}`)).flags).toMatchObject({ permitPortSharing: true, logFormat: 'json' });
    }
  });

  it.each(rejectedFlags)("rejects kube-scheduler's flag %s with what to do instead", async (flag) => {
    for (const value of ['', '=', '=true', ' x']) {
      const { message, command, exitCode } = await parse(`scheduler ${flag}${value}`);
      expect([command, exitCode]).toEqual([undefined, 1]);
      expect(message).toMatch(
        new RegExp(
          `^error: Tutti does not support the flag ${flag} of kube-scheduler: \\S.* (Remove|Let|Use|Set|Drop) .+\\.\n`,
        ),
      );
    }
    expect((await parse('scheduler --help')).message).not.toContain(`${flag} `);
  });

  it('passes files and flags to config check', async () => {
    expect(await parse('config check a.yaml b.yaml --verbose')).toMatchObject({
      command: 'config check',
      flags: { files: ['a.yaml', 'b.yaml'], verbose: true },
      exitCode: 7,
    });
  });

  it.each([
    ['up --nodes -1', '--nodes', "'-1'", 'a whole number from 0 to 5000'],
    ['up --nodes 1e3', '--nodes', "'1e3'", 'a whole number from 0 to 5000'],
    ['up --node-cpu 2x', '--node-cpu', "'2x'", 'a Kubernetes quantity greater than zero, such as 2 or 500m'],
    ['up --node-memory -1Gi', '--node-memory', "'-1Gi'", 'such as 8Gi'],
    ['up --port 65536', '--port', "'65536'", '0 for any free port'],
    ['up --timeout 90', '--timeout', "'90'", 'a duration such as 90s'],
    ['up --timeout 0s', '--timeout', "'0s'", 'a duration such as 90s'],
    ['scheduler --scheduler-name A', '--scheduler-name', "'A'", 'spec.schedulerName'],
    ['scheduler --kube-api-qps fast', '--kube-api-qps', "'fast'", '0 for no limit'],
    ['scheduler -v loud', '--v', "'loud'", 'a number as in kube-scheduler, or one of error, warn, info, debug'],
    [
      'scheduler --secure-port https',
      '--secure-port',
      "'https'",
      'a port number from 1 to 65535, or 0 to serve nothing',
    ],
    ['up --timeout 5s', '--timeout', 'requires --exit', 'without it the control plane stays up'],
    ['scheduler --tls-min-version VersionTLS11', '--tls-min-version', "'VersionTLS11'", 'VersionTLS12, VersionTLS13'],
    [
      'scheduler --tls-cipher-suites TLS_RC4',
      '--tls-cipher-suites',
      'TLS_RC4 is not supported',
      'TLS_ECDHE_ECDSA_WITH_',
    ],
    ['scheduler --tls-cert-file=', '--tls-cert-file', "''", 'a path'],
    ['scheduler --authentication-skip-lookup=maybe', '--authentication-skip-lookup', "'maybe'", 'true or false'],
    [
      'scheduler --authorization-always-allow-paths /a*b',
      '--authorization-always-allow-paths',
      "'/a*b'",
      '* only at its end',
    ],
    ['controller --authentication-token-webhook-cache-ttl 1', '-webhook-cache-ttl', "'1'", 'a duration such as 90s'],
    ['scheduler --profiling=true', '--profiling', "'true'", 'must be false: there is no /debug/pprof'],
    ['scheduler --contention-profiling=true', '--contention-profiling', "'true'", 'must be false'],
    [
      'controller --disable-http2-serving=false',
      '--disable-http2-serving',
      "'false'",
      'must be true: Tutti does not serve HTTP/2',
    ],
    ['scheduler --http2-max-streams-per-connection -1', '-per-connection', "'-1'", 'a whole number from 0'],
    ['scheduler --permit-port-sharing=yes', '--permit-port-sharing', "'yes'", 'true or false'],
    ['scheduler --permit-address-sharing=yes', '--permit-address-sharing', "'yes'", 'true or false'],
    ['scheduler --logging-format=klog', '--logging-format', "'klog'", 'text, json'],
    ['scheduler --log-flush-frequency=often', '--log-flush-frequency', "'often'", 'a duration'],
    ['controller --workers 0', '--workers', "'0'", 'a whole number from 1 to 1000'],
    ['controller --log-format xml', '--log-format', "'xml'", 'text, json'],
  ])('reports the flag, its value and the expected value: %s', async (line, flag, value, right) => {
    const { message, command, exitCode } = await parse(line);
    expect(command).toBeUndefined();
    expect(exitCode).not.toBe(0);
    for (const part of [flag, value, right, '--help']) expect(message).toContain(part);
  });

  it('suggests a name for an unknown flag or command', async () => {
    expect((await parse('up --nodez 3')).message).toContain('Did you mean --nodes');
    expect((await parse('shceduler')).message).toContain('Did you mean scheduler');
    expect((await parse('up red.yaml')).message).toContain('too many arguments');
    const { message, exitCode } = await parse('help shceduler');
    expect([message, exitCode]).toEqual([expect.stringContaining('Did you mean scheduler'), 1]);
    const nope = await parse('help nope');
    expect(nope.message).toMatch(/unknown command 'nope'\s+The commands are up, scheduler, controller/);
    expect(nope.exitCode).toBe(1);
  });
});

describe('--help', () => {
  it.each(Object.keys(commandExamples))('has examples for tutti %s', async (command) => {
    const { message, exitCode } = await parse(command === 'config' ? 'help config' : `${command} --help`);
    expect(exitCode).toBe(0);
    expect(message).toMatch(/\nExamples:\n( {2}# \S.*\n {2}tutti .*\n\n?)+/);
  });

  it('has examples for all commands', () => {
    const program = createProgram({} as Commands, () => undefined);
    const names = program.commands.flatMap((command) => [
      command.name(),
      ...command.commands.map((inner) => `${command.name()} ${inner.name()}`),
    ]);
    expect(Object.keys(commandExamples).sort()).toEqual(names.sort());
  });

  const commandLines = Object.values(commandExamples).flatMap((examples) => Object.values(examples));
  it.each(commandLines)('shows an example that parses: %s', async (commandLine) => {
    const { exitCode, message } = await parse(commandLine.replace(/^tutti /, ''));
    expect([exitCode, message]).toEqual(commandLine.startsWith('tutti help ') ? [0, expect.anything()] : [7, '']);
  });
});

describe('tutti timeline', () => {
  it('takes groups, a time and a format', async () => {
    expect((await parse('timeline red pod/x -A --since 10m -f -o json')).flags).toEqual({
      subjects: [{ name: 'red' }, { name: 'x', kind: 'Pod' }],
      ...{ allNamespaces: true, since: 600_000, follow: true, output: 'json', headers: true, color: 'auto' },
    });
  });

  it.each(['timeline --since 0', 'timeline -o name', 'timeline node/a', 'timeline -f -o trace'])(
    'rejects %s',
    async (line) => {
      const { command, exitCode } = await parse(line);
      expect([command, exitCode]).toEqual([undefined, 1]);
    },
  );
});
