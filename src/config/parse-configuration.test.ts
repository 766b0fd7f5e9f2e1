import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { UserError } from '../base/user-error.ts';
import { ConfigurationError } from './configuration-error.ts';
import { describeConfiguration } from './describe-configuration.ts';
import { formatConfiguration } from './format-configuration.ts';
import { loadConfiguration } from './load-configuration.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { defaultConfiguration } from './scheduler-configuration.ts';
import type { SchedulerConfiguration } from './scheduler-configuration.ts';
import { header, diagnosticsOf } from './testing/diagnostics-of.ts';
import { cpuMsOf } from '../../test/expect/cpu-ms.ts';

function parse(text: string): SchedulerConfiguration {
  return parseConfiguration('f.yaml', header + text).configuration;
}

describe('a configuration', () => {
  it("has kube-scheduler's defaults", () => {
    const { profiles, ...rest } = parse('');
    const { profiles: own, ...defaults } = defaultConfiguration();
    expect(rest).toEqual(defaults);
    expect(rest).toEqual({
      clientConnection: { qps: 50, burst: 100 },
      leaderElection: {
        leaderElect: true,
        leaseDurationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2_000,
        resourceLock: 'leases',
        resourceName: 'kube-scheduler',
        resourceNamespace: 'kube-system',
      },
      podBackoff: { initialMs: 1_000, maxMs: 10_000 },
      extenders: [],
      enableProfiling: true,
      enableContentionProfiling: true,
      delayCacheUntilActive: false,
    });
    const names = (list: typeof profiles): unknown =>
      list.map(({ schedulerName, plugins }) => [schedulerName, plugins.map(({ name, weight }) => [name, weight])]);
    expect(names(profiles)).toEqual(names(own));
    expect(profiles[0]!.schedulerName).toBe('default-scheduler');
  });

  it('reads every field', () => {
    const configuration = parse(
      stringify({
        clientConnection: { kubeconfig: '/etc/kubernetes/scheduler.conf', qps: 12.5, burst: 7 },
        leaderElection: {
          leaderElect: false,
          leaseDuration: '1m30s',
          renewDeadline: '0s',
          retryPeriod: '500ms',
          resourceName: 'mine',
          resourceNamespace: '',
        },
        podInitialBackoffSeconds: 2,
        podMaxBackoffSeconds: 60,
        enableProfiling: false,
        delayCacheUntilActive: true,
      }),
    );
    expect(configuration).toMatchObject({
      clientConnection: { kubeconfig: '/etc/kubernetes/scheduler.conf', qps: 12.5, burst: 7 },
      leaderElection: {
        leaderElect: false,
        leaseDurationMs: 90_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 500,
        resourceName: 'mine',
        resourceNamespace: 'kube-system',
      },
      podBackoff: { initialMs: 2_000, maxMs: 60_000 },
      enableProfiling: false,
      enableContentionProfiling: false,
      delayCacheUntilActive: true,
    });
  });

  it('limits calls as client-go does: 0 is the default, a negative value means no limit', () => {
    expect(parse('clientConnection: {qps: 0, burst: 0}').clientConnection).toEqual({ qps: 50, burst: 100 });
    expect(parse('clientConnection: {qps: -1}').clientConnection.qps).toBe(0);
  });

  it('reads extenders', () => {
    const text = [
      'extenders:',
      '- urlPrefix: https://127.0.0.1:8443/scheduler',
      '  filterVerb: filter',
      '  prioritizeVerb: prioritize',
      '  preemptVerb: ""',
      '  weight: 5',
      '  bindVerb: bind',
      '  enableHTTPS: true',
      '  httpTimeout: 200ms',
      '  nodeCacheCapable: true',
      '  ignorable: true',
      '  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}, {name: example.com/fpga}]',
      '  tlsConfig: {serverName: extender, caFile: /ca.crt}',
      '- urlPrefix: http://127.0.0.1:8080',
    ].join('\n');
    expect(parse(text).extenders).toEqual([
      {
        urlPrefix: 'https://127.0.0.1:8443/scheduler',
        filterVerb: 'filter',
        prioritizeVerb: 'prioritize',
        weight: 5,
        bindVerb: 'bind',
        enableHttps: true,
        httpTimeoutMs: 200,
        nodeCacheCapable: true,
        ignorable: true,
        managedResources: [
          { name: 'example.com/gpu', ignoredByScheduler: true },
          { name: 'example.com/fpga', ignoredByScheduler: false },
        ],
        tls: { insecure: false, serverName: 'extender', caFile: '/ca.crt' },
      },
      {
        urlPrefix: 'http://127.0.0.1:8080',
        weight: 0,
        enableHttps: false,
        httpTimeoutMs: 5_000,
        nodeCacheCapable: false,
        managedResources: [],
        ignorable: false,
      },
    ]);
  });

  it('may have reservations in a profile, which are off by default', () => {
    const read = (reservations: string): unknown =>
      parse(`profiles: [{schedulerName: a, reservations: ${reservations}}]`).profiles[0]!.reservations;
    for (const off of ['null', '{}', '{enabled: false, poolLabel: a}']) expect(read(off)).toBeUndefined();
    expect(read('{enabled: true}')).toEqual({
      reserveAfterMs: 60_000,
      drainAfterMs: 600_000,
      overrunPenaltyMs: 3_600_000,
    });
    expect(
      read('{enabled: true, poolLabel: a.b/c, reserveAfterSeconds: 0, drainAfterSeconds: 0, overrunPenaltySeconds: 7}'),
    ).toEqual({ poolLabel: 'a.b/c', reserveAfterMs: 0, drainAfterMs: 0, overrunPenaltyMs: 7_000 });
    expect(describeConfiguration(parse('profiles: [{reservations: {enabled: true, poolLabel: a.b/c}}]')).at(-1)).toBe(
      '  reservations: pools by a.b/c, after 1m, draining after 10m, overrun penalty 1h',
    );
  });

  it('may be JSON, and may use anchors', () => {
    const json = JSON.stringify({ apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' });
    expect(parseConfiguration('f.json', json).configuration).toEqual(parse(''));
    const plain = parse(
      'profiles:\n- schedulerName: a\n  plugins: {score: {disabled: [{name: "*"}]}}\n- schedulerName: b\n  plugins: {score: {disabled: [{name: "*"}]}}',
    );
    expect(
      parse(
        'profiles:\n- schedulerName: a\n  plugins: &same {score: {disabled: [{name: "*"}]}}\n- schedulerName: b\n  plugins: *same',
      ),
    ).toEqual(plain);
    expect(
      parse(
        'profiles:\n- &first\n  schedulerName: a\n  plugins: {score: {disabled: [{name: "*"}]}}\n- <<: *first\n  schedulerName: b',
      ),
    ).toEqual(plain);
  });
});

describe('a warning', () => {
  it.each([
    ['parallelism: 4', '3:1: parallelism has no effect: a scheduling cycle runs on one thread'],
    ['percentageOfNodesToScore: 50', '3:1: percentageOfNodesToScore has no effect: Tutti considers every node'],
    [
      'percentageOfPlacementsToScore: 50',
      '3:1: percentageOfPlacementsToScore has no effect: Tutti plans a group as a whole',
    ],
    [
      'profiles: [{percentageOfNodesToScore: 0}]',
      '3:13: profiles[0].percentageOfNodesToScore has no effect: Tutti considers every node',
    ],
    [
      'clientConnection: {contentType: application/cbor}',
      '3:20: clientConnection.contentType has no effect: Tutti uses JSON with the API server',
    ],
    [
      'clientConnection: {acceptContentTypes: application/vnd.kubernetes.protobuf}',
      '3:20: clientConnection.acceptContentTypes has no effect: Tutti uses JSON with the API server',
    ],
    [
      'profiles: [{plugins: {filter: {enabled: [{name: NodeName, weight: 3}]}}}]',
      '3:59: profiles[0].plugins.filter.enabled[0].weight has no effect: weights only apply at score and multiPoint',
    ],
    [
      'profiles: [{plugins: {multiPoint: {enabled: [{name: NodeName, weight: 3}]}}}]',
      '3:63: profiles[0].plugins.multiPoint.enabled[0].weight has no effect: NodeName does not score',
    ],
    [
      'profiles: [{plugins: {preFilter: {enabled: [{name: NodeResourcesFit}]}}}]',
      '3:46: profiles[0].plugins.preFilter.enabled[0].name has no effect: in Tutti, NodeResourcesFit does not implement preFilter, ' +
        'only filter, score',
    ],
    [
      'profiles: [{plugins: {filter: {disabled: [{name: NodeNam}]}}}]',
      '3:44: profiles[0].plugins.filter.disabled[0].name disables nothing: there is no plugin "NodeNam"; did you mean NodeName?',
    ],
    [
      'profiles: [{pluginConfig: [{name: DefaultPreemption}], plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}}]',
      '3:29: profiles[0].pluginConfig[0].name has no effect: DefaultPreemption is not enabled in this profile',
    ],
    [
      'profiles: [{plugins: {multiPoint: {enabled: [{name: DefaultPreemption}]}}, pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesAbsolute: 60, minCandidateNodesPercentage: 10}}]}]',
      '3:124: profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute has no effect: Tutti considers every node',
    ],
    [
      'profiles: [{pluginConfig: [{name: Coschedulling, args: {anything: 1}}]}]',
      '3:29: profiles[0].pluginConfig[0].name has no effect: there is no plugin "Coschedulling"; did you mean Coscheduling?',
    ],
    [
      'profiles: [{plugins: {multiPoint: {disabled: [{name: Coscheduling}]}}, pluginConfig: [{name: Coscheduling}]}]',
      '3:88: profiles[0].pluginConfig[0].name has no effect: Coscheduling is not enabled in this profile',
    ],
    [
      'profiles: [{reservations: {poolLabel: a}}]',
      '3:13: profiles[0].reservations has no effect: set enabled to true to turn reservations on',
    ],
  ])('is reported for a field without effect: %s', (text, warning) => {
    expect(diagnosticsOf(header + text)).toEqual({ problems: [], warnings: [warning] });
  });

  it('is not reported for a value that matches the behavior', () => {
    const text = [
      'parallelism: 16',
      'percentageOfNodesToScore: 0',
      'profiles: [{percentageOfNodesToScore: 100}]',
      'clientConnection: {contentType: application/json, acceptContentTypes: "application/vnd.kubernetes.protobuf,application/json"}',
      'leaderElection: {leaderElect: false}',
    ].join('\n');
    expect(diagnosticsOf(header + text)).toEqual({ problems: [], warnings: [] });
  });
});

describe('formatConfiguration', () => {
  /** Generates files with most of the possible fields. */
  function files(): fc.Arbitrary<object> {
    const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
      fc.record(fields, { requiredKeys: [] });
    const filters = [
      'NodeName',
      'NodePorts',
      'TaintToleration',
      'NodeAffinity',
      'NodeResourcesFit',
      'NodeUnschedulable',
    ];
    const named = (list: readonly string[]): fc.Arbitrary<unknown> =>
      fc
        .uniqueArray(fc.constantFrom(...list), { maxLength: 3 })
        .chain((chosen) =>
          fc.tuple(...chosen.map((name) => some({ weight: fc.nat(9) }).map((rest) => ({ name, ...rest })))),
        );
    const set = (list: readonly string[]): fc.Arbitrary<unknown> =>
      some({ enabled: named(list), disabled: named([...list, '*']) });
    const profile = some({
      plugins: some({
        filter: set(filters),
        score: set(['TaintToleration', 'NodeAffinity', 'NodeResourcesFit']),
        preFilter: set(['NodeAffinity', 'NodePorts', 'Coscheduling']),
        multiPoint: some({
          enabled: named([...filters, 'Coscheduling', 'Own']),
          disabled: named([...filters, 'Coscheduling']),
        }),
      }),
      pluginConfig: fc.oneof(
        fc.jsonValue().map((args) => [{ name: 'Own', args }]),
        fc.constantFrom([]),
        fc.constantFrom(
          [{ name: 'Coscheduling', args: { permitWaitingTimeSeconds: 7 } }],
          [{ name: 'NodeResourcesFit', args: { scoringStrategy: { type: 'MostAllocated', resources: [] } } }],
        ),
      ),
    });
    const base64 = fc.base64String();
    const extender = fc.record(
      {
        urlPrefix: fc.constantFrom('http://x', 'https://user:a%20b@x:8443/y/'),
        filterVerb: fc.string(),
        prioritizeVerb: fc.constantFrom('', 'rank'),
        weight: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        enableHTTPS: fc.boolean(),
        tlsConfig: some({ insecure: fc.constant(false), serverName: fc.string(), caFile: fc.string(), caData: base64 }),
        httpTimeout: fc.integer({ min: 0, max: 2 ** 53 - 1 }).map((n) => `${n}ns`),
        nodeCacheCapable: fc.boolean(),
        managedResources: fc.constantFrom([], [{ name: 'a.b/c', ignoredByScheduler: true }]),
        ignorable: fc.boolean(),
      },
      { requiredKeys: ['urlPrefix', 'weight'] },
    );
    const seconds = fc.nat(1_000);
    const reservations = some({
      enabled: fc.boolean(),
      reserveAfterSeconds: fc.nat(600),
      drainAfterSeconds: seconds.map((more) => 1_000 + more),
      overrunPenaltySeconds: seconds,
    });
    return some({
      apiVersion: fc.constantFrom('v1', 'v1beta3').map((version) => `kubescheduler.config.k8s.io/${version}`),
      clientConnection: some({
        qps: fc.integer({ min: -2, max: 9 }),
        burst: fc.nat(9),
        kubeconfig: fc.constant('a b'),
      }),
      leaderElection: some({ leaderElect: fc.boolean(), leaseDuration: fc.constantFrom('20s', '1h0.5s') }),
      podInitialBackoffSeconds: fc.integer({ min: 1, max: 10 }),
      enableProfiling: fc.boolean(),
      profiles: fc
        .tuple(fc.array(fc.tuple(profile, reservations), { maxLength: 3 }), fc.constantFrom({}, { poolLabel: 'a.b/c' }))
        .map(([list, pools]) =>
          list.map(([each, given], index) => ({
            schedulerName: `s${index}`,
            ...each,
            reservations: { ...given, ...pools },
          })),
        ),
      extenders: fc.array(extender, { maxLength: 1 }),
    }).map((fields) => ({
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      ...fields,
    }));
  }

  it('writes a file that reads as the same configuration', () => {
    fc.assert(
      fc.property(files(), (file) => {
        const own = [{ name: 'Own' }];
        const { configuration } = parseConfiguration('f.yaml', stringify(file), own);
        const again = parseConfiguration('g.yaml', formatConfiguration(configuration), own);
        expect(again.configuration).toEqual(configuration);
        expect(formatConfiguration(again.configuration)).toBe(formatConfiguration(configuration));
      }),
      { numRuns: 100 },
    );
  });

  it('writes a v1beta2 configuration as v1', () => {
    const text = `${header.replace('v1', 'v1beta2')}profiles:\n- plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 7}]}}`;
    const { configuration } = parseConfiguration('f.yaml', text);
    const written = formatConfiguration(configuration);
    expect(written).toContain('apiVersion: kubescheduler.config.k8s.io/v1\n');
    expect(parseConfiguration('g.yaml', written).configuration).toEqual(configuration);
  });

  it('writes a configuration that was created in code', () => {
    const { configuration } = parseConfiguration('f.yaml', formatConfiguration(defaultConfiguration()));
    expect(configuration).toEqual(parse(''));
  });
});

describe('arbitrary text', () => {
  const words = [
    [
      'apiVersion',
      'kind',
      'profiles',
      'schedulerName',
      'plugins',
      'multiPoint',
      'score',
      'filter',
      'queueSort',
      'bind',
    ],
    ['enabled', 'disabled', 'name', 'weight', 'pluginConfig', 'args', 'extenders', 'urlPrefix', 'managedResources'],
    ['reservations', 'poolLabel', 'reserveAfterSeconds', 'drainAfterSeconds', 'overrunPenaltySeconds'],
    ['leaderElection', 'leaseDuration', 'clientConnection', 'qps', 'burst', '__proto__', 'constructor', '*', '<<', ''],
  ].flat();
  const texts = [
    'NodeAffinity',
    'Coscheduling',
    'PrioritySort',
    'EBSLimits',
    '10s',
    '*',
    'kubescheduler.config.k8s.io/v1',
    '&a',
    '*a',
  ];
  const values = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 7 },
      fc.oneof(fc.constantFrom(...texts, null, true), fc.integer({ min: -2, max: 102 }), fc.double(), fc.string()),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(fc.constantFrom(...words), tie('value')), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  })).object as fc.Arbitrary<object>;

  function expectOnlyUserError(text: string): void {
    try {
      parseConfiguration('f.yaml', text);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      expect(error).toBeInstanceOf(ConfigurationError);
      for (const { line, column, text: message } of (error as ConfigurationError).problems) {
        expect(line).toBeGreaterThan(0);
        expect(column).toBeGreaterThan(0);
        expect(message).not.toMatch(/undefined|\[object/);
      }
    }
  }

  it('is read or rejected (values)', () => {
    fc.assert(
      fc.property(values, (value) => {
        const whole = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', ...value };
        expectOnlyUserError(JSON.stringify(whole));
        expectOnlyUserError(stringify({ ...whole, profiles: [value] }));
      }),
      { numRuns: 150 },
    );
  });

  it('is read or rejected (characters)', () => {
    const lines = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(...words.map((word) => `${word}:`), '- ', '  a: &a [', '%YAML 1.1', '---', '!!set {a}', '\t'),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(lines, (list) => {
        expectOnlyUserError(list.join('\n'));
        expectOnlyUserError(header + list.join('\n'));
      }),
      { numRuns: 300 },
    );
  });

  const tens = (level: string, of: string): string =>
    `${level}: &${level} [${Array.from({ length: 10 }, () => `*${of}`).join(',')}]`;
  it.each<[string, string]>([
    [
      'aliases of aliases',
      `${header}a: &a [x]\n${tens('b', 'a')}\n${tens('c', 'b')}\n${tens('d', 'c')}\n${tens('e', 'd')}`,
    ],
    ['an alias of itself', `${header}profiles: &a [*a]`],
    ['deep lists', '['.repeat(100_000)],
    ['deep objects', '{"a":'.repeat(100_000)],
    ['deep lists without brackets', '- '.repeat(100_000)],
    [
      'deep mappings without brackets',
      Array.from({ length: 1_500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
    ],
    ['deep objects in a field', `${header}profiles: ${'[{a: '.repeat(5_000)}1${'}]'.repeat(5_000)}`],
    ['nothing but zeros', '\0'.repeat(1_000)],
    ['a long name', `${header}${'a'.repeat(1_000)}: 1`],
    ['dates and sets', `%YAML 1.1\n---\n${header}parallelism: 2001-01-01\nprofiles: !!set {a, b}`],
    ['keys that are not text', `${header}? {a: 1}\n: 2\n1: 2\ntrue: 3`],
  ])('that is malicious is rejected quickly: %s', async (_, text) => {
    const cpuMs = await cpuMsOf(() => {
      expect(() => parseConfiguration('f.yaml', text)).toThrow(ConfigurationError);
      expectOnlyUserError(text);
    });
    expect(cpuMs).toBeLessThan(5_000);
  });
});

describe('a file', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tutti-configuration-'));
    file = join(folder, 'scheduler.yaml');
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('that is missing or is a folder is reported', async () => {
    await expect(loadConfiguration('/does/not/exist.yaml')).rejects.toThrow(
      'invalid configuration:\n  /does/not/exist.yaml: the file does not exist',
    );
    await expect(loadConfiguration(folder)).rejects.toThrow('it is a folder: set the path of a file');
  });

  it.each<[string, BufferEncoding, string]>([
    ['Latin-1', 'latin1', `${header}# caf\xe9\n`],
    ['UTF-16', 'utf16le', `\ufeff${header}`],
  ])('of %s is rejected', async (_, encoding, text) => {
    await writeFile(file, text, encoding);
    await expect(loadConfiguration(file)).rejects.toThrow(`${file}: it is not UTF-8 text`);
  });

  it('may have a byte order mark and Windows line endings', async () => {
    await writeFile(file, `\ufeff${header.replaceAll('\n', '\r\n')}`);
    expect((await loadConfiguration(file)).configuration).toEqual(parse(''));
  });
});
