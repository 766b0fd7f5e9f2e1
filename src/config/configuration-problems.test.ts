import { describe, expect, it } from 'vitest';
import { pluginNames } from './testing/defaults-at.ts';
import { header, diagnosticsOf } from './testing/diagnostics-of.ts';

/** Returns the problems of a file that starts with the two lines of its kind; the first line of `text` is line 3. */
function problemsOf(text: string): readonly string[] {
  return diagnosticsOf(header + text).problems;
}

/** Returns the problems of a single profile, whose fields start at line 4, column 3. */
function profileProblemsOf(text: string): readonly string[] {
  return problemsOf(`profiles:\n- ${text.replaceAll('\n', '\n  ')}`);
}

describe('a file that is not a KubeSchedulerConfiguration', () => {
  it.each([
    ['', ['1:1: must be a KubeSchedulerConfiguration, an object with apiVersion: kubescheduler.config.k8s.io/v1']],
    ['- 1', ['1:1: must be a KubeSchedulerConfiguration, an object with apiVersion: kubescheduler.config.k8s.io/v1']],
    [
      'profiles: []',
      [
        '1:1: apiVersion is missing; it must be kubescheduler.config.k8s.io/v1',
        '1:1: kind is missing; it must be KubeSchedulerConfiguration',
      ],
    ],
    [
      'apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nparallelism: 0',
      [
        '1:1: apiVersion must be kubescheduler.config.k8s.io/v1, not "kubescheduler.config.k8s.io/v1alpha1"',
        '3:1: parallelism must be a whole number from 1 to 2147483647, not 0',
      ],
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scheduler-config}\ndata: {}',
      [
        '1:1: apiVersion must be kubescheduler.config.k8s.io/v1, not "v1"',
        '2:1: kind must be KubeSchedulerConfiguration, not "ConfigMap"',
      ],
    ],
    [`${header}---\n${header}`, ['3:1: contains several documents: keep one and remove the others']],
    [`${header}--- {}`, ['3:1: contains several documents: keep one and remove the others']],
    [`${header}profiles: [`, [expect.stringMatching(/^3:12: is not valid YAML or JSON: /)]],
    [`${header}profiles: *there`, [expect.stringContaining('is not valid YAML or JSON: Unresolved alias')]],
    [`${header}parallelism: !many 4`, ['3:14: is not valid YAML or JSON: Unresolved tag: !many']],
  ])('is rejected: %j', (text, problems) => {
    expect(diagnosticsOf(text).problems).toEqual(problems);
  });
});

it.each(['---\n', '---\n# the end\n', '...\n---\n', '---\r\n---\r\n', '--- # the end'])(
  'accepts the trailing %j that templates leave',
  (end) => expect(problemsOf(end)).toEqual([]),
);

describe('a field', () => {
  it.each([
    ['podMaxBackoffSeconds: 010', '010'],
    ['podMaxBackoffSeconds: +010', '+010'],
  ])('must not be a number with another value in YAML 1.1: %s', (text, source) => {
    expect(problemsOf(text)).toEqual([
      `3:23: podMaxBackoffSeconds must not start with 0, not ${source}: kube-scheduler would read it as an octal number`,
    ]);
  });

  it('with text may start with 0', () => {
    expect(problemsOf('profiles: [{schedulerName: "010"}]\npodMaxBackoffSeconds: 10.0')).toEqual([]);
  });

  it.each([
    [
      'paralelism: 1',
      expect.stringMatching(
        /^3:1: paralelism is not a known field; did you mean parallelism\? The fields are parallelism, /,
      ),
    ],
    ['parallelism: many', '3:1: parallelism must be a whole number from 1 to 2147483647, not "many"'],
    ['parallelism: 1.5', '3:1: parallelism must be a whole number from 1 to 2147483647, not 1.5'],
    ['profiles: {}', '3:1: profiles must be a list, not an object'],
    ['profiles: [null]', '3:12: profiles[0] must be an object, not null'],
    ['enableProfiling: yes please', '3:1: enableProfiling must be true or false, not "yes please"'],
    ['delayCacheUntilActive: 1', '3:1: delayCacheUntilActive must be true or false, not 1'],
    ['parallelism: 1\nparallelism: 2', '4:1: parallelism is set twice; the first is on line 3'],
    [
      'profiles:\n- plugins:\n    score: {enabled: []}\n    score: {enabled: []}',
      '6:5: profiles[0].plugins.score is set twice; the first is on line 5',
    ],
    [
      'healthzBindAddress: 0.0.0.0:1',
      '3:1: healthzBindAddress is a v1beta2 field: set --bind-address and --secure-port instead',
    ],
    ['algorithmSource: {}', '3:1: algorithmSource is a field of older versions: set profiles instead'],
  ])('that is invalid is reported: %j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('with null counts as absent', () => {
    expect(problemsOf('parallelism: null\nprofiles: null\nleaderElection:\nextenders: ~')).toEqual([]);
  });

  it('is also found in JSON', () => {
    const text = JSON.stringify(
      { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', parallelism: 0 },
      null,
      '\t',
    );
    expect(diagnosticsOf(text).problems).toEqual([
      '4:2: parallelism must be a whole number from 1 to 2147483647, not 0',
    ]);
  });
});

describe("kube-scheduler's rules", () => {
  it.each([
    [
      'clientConnection: {burst: -1}',
      '3:20: clientConnection.burst must be a whole number from 0 to 2147483647, not -1',
    ],
    ['parallelism: 0', '3:1: parallelism must be a whole number from 1 to 2147483647, not 0'],
    ['percentageOfNodesToScore: 101', '3:1: percentageOfNodesToScore must be a whole number from 0 to 100, not 101'],
    ['percentageOfNodesToScore: -1', '3:1: percentageOfNodesToScore must be a whole number from 0 to 100, not -1'],
    [
      'podInitialBackoffSeconds: 0',
      '3:1: podInitialBackoffSeconds must be a whole number from 1 to 9007199254740, not 0',
    ],
    [
      'podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4',
      '4:1: podMaxBackoffSeconds must be at least podInitialBackoffSeconds (5), not 4',
    ],
    [
      'podInitialBackoffSeconds: 20',
      '3:1: podMaxBackoffSeconds must be at least podInitialBackoffSeconds (20), not 10 (the default)',
    ],
    [
      'leaderElection: {leaseDuration: 10s}',
      '3:18: leaderElection.leaseDuration must be longer than renewDeadline (10s), not 10s',
    ],
    [
      'leaderElection: {retryPeriod: 1m}',
      '3:18: leaderElection.renewDeadline must be longer than 1.2 times retryPeriod (1m), not 10s',
    ],
    [
      'leaderElection: {retryPeriod: -2s}',
      '3:18: leaderElection.retryPeriod must be a duration such as 15s or 1m30s, not "-2s"',
    ],
    [
      'leaderElection: {retryPeriod: 2}',
      '3:18: leaderElection.retryPeriod must be a duration such as 15s or 1m30s, not 2',
    ],
    [
      'leaderElection: {resourceName: Mine}',
      '3:18: leaderElection.resourceName must be a valid Kubernetes object name, not "Mine"',
    ],
    [
      'leaderElection: {resourceName: a..b}',
      '3:18: leaderElection.resourceName must be a valid Kubernetes object name, not "a..b"',
    ],
    [
      'leaderElection: {resourceNamespace: team.a}',
      '3:18: leaderElection.resourceNamespace must be the name of a namespace, not "team.a"',
    ],
    ['leaderElection: {resourceLock: endpoints}', '3:18: leaderElection.resourceLock must be leases, not "endpoints"'],
  ])('apply to the process: %j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('do not apply to a disabled leader election', () => {
    expect(problemsOf('leaderElection: {leaderElect: false, leaseDuration: 1s, resourceLock: endpoints}')).toEqual([]);
  });

  it.each([
    ['schedulerName: ""', '4:3: profiles[0].schedulerName must not be empty: pods select the profile by this name'],
    [
      'percentageOfNodesToScore: 200',
      '4:3: profiles[0].percentageOfNodesToScore must be a whole number from 0 to 100, not 200',
    ],
    [
      'plugins: {filter: {enabled: [{name: EBSLimits}]}}',
      '4:33: profiles[0].plugins.filter.enabled[0].name is EBSLimits, which kube-scheduler has removed: ' +
        'the CSI driver limits of NodeVolumeLimits replace it',
    ],
    [
      'pluginConfig: [{name: CinderLimits}]',
      '4:19: profiles[0].pluginConfig[0].name names CinderLimits, which kube-scheduler has removed: ' +
        'the CSI driver limits of NodeVolumeLimits replace it',
    ],
    [
      'pluginConfig:\n- name: Coscheduling\n- name: Coscheduling',
      '6:5: profiles[0].pluginConfig[1] must differ from profiles[0].pluginConfig[0] in name; both have "Coscheduling"',
    ],
    [
      'pluginConfig: [{name: Coscheduling, args: {kind: NodeAffinityArgs}}]',
      '4:46: profiles[0].pluginConfig[0].args.kind must be CoschedulingArgs, not "NodeAffinityArgs"',
    ],
    [
      'pluginConfig: [{name: Coscheduling, args: {apiVersion: v1, kind: CoschedulingArgs}}]',
      '4:46: profiles[0].pluginConfig[0].args.apiVersion must be kubescheduler.config.k8s.io/v1, not "v1"',
    ],
    [
      'pluginConfig:\n- name: Coscheduling\n  args:\n    permitWaitingTimeSeconds: -10',
      '7:7: profiles[0].pluginConfig[0].args.permitWaitingTimeSeconds must be a whole number of at least 0, not -10',
    ],
    [
      'pluginConfig: [{name: NodeName, args: {x: 1}}]',
      '4:42: profiles[0].pluginConfig[0].args.x is not a known field; no field can be set here',
    ],
    [
      'plugins: {score: {enabled: [{name: TaintToleration, weight: -1}]}}',
      '4:55: profiles[0].plugins.score.enabled[0].weight must be a whole number from 0 to 2147483647, not -1',
    ],
    [
      'plugins: {score: {enabled: [{name: NodeAffinity}, {name: NodeAffinity}]}}',
      '4:53: profiles[0].plugins.score.enabled[1] must differ from profiles[0].plugins.score.enabled[0] in name; both have "NodeAffinity"',
    ],
    [
      'plugins: {score: {enabled: [{weight: 1}]}}',
      '4:31: profiles[0].plugins.score.enabled[0].name is missing; it must be the name of a plugin',
    ],
    [
      'plugins: {score: {enabled: [{name: "*"}]}}',
      '4:32: profiles[0].plugins.score.enabled[0].name must be the name of a plugin: * is only allowed in disabled',
    ],
    [
      'plugins: {filter: {enabled: [{name: TaintTolerations}]}}',
      '4:33: profiles[0].plugins.filter.enabled[0].name is "TaintTolerations", which is not a known plugin; ' +
        `did you mean TaintToleration? The plugins are ${pluginNames}`,
    ],
    [
      'plugins: {multiPoint: {enabled: [{name: MyPlugin}]}}',
      `4:37: profiles[0].plugins.multiPoint.enabled[0].name is "MyPlugin", which is not a known plugin; the plugins are ${pluginNames}`,
    ],
    [
      'plugins: {multiPoint: {enabled: [{name: GangScheduling}]}}',
      '4:37: profiles[0].plugins.multiPoint.enabled[0].name is GangScheduling, a plugin of kube-scheduler that Tutti ' +
        `does not have yet: remove it, or use one of ${pluginNames}`,
    ],
    [
      'plugins: {multiPoint: {enabled: [{name: CapacityScheduling}]}}',
      '4:37: profiles[0].plugins.multiPoint.enabled[0].name is CapacityScheduling, a plugin of scheduler-plugins that Tutti ' +
        `does not have: remove it, or use one of ${pluginNames}`,
    ],
    [
      'plugins: {score: {enabled: [{name: NodeUnschedulable}]}}',
      '4:32: profiles[0].plugins.score.enabled[0].name is NodeUnschedulable, which does not implement score, only filter',
    ],
    [
      'plugins: {PreFilter: {}}',
      expect.stringMatching(
        /^4:13: profiles\[0\].plugins.PreFilter is not a known field; did you mean preFilter\? The fields are multiPoint, /,
      ),
    ],
    ['plugins: {unreserve: {}}', '4:13: profiles[0].plugins.unreserve is part of reserve: enable its plugins there'],
    [
      'plugins: {placementScore: {enabled: [{name: PodGroupPodsCount}]}}',
      '4:30: profiles[0].plugins.placementScore.enabled must be empty: Tutti does not have this extension point; it plans a group as a whole',
    ],
    [
      'plugins: {bind: {disabled: [{name: DefaultBinder}]}}',
      '4:13: profiles[0].plugins.bind must leave at least one bind plugin: enable DefaultBinder',
    ],
    [
      'plugins: {multiPoint: {disabled: [{name: PrioritySort}]}}',
      '4:3: profiles[0].plugins.queueSort must leave exactly one queueSort plugin, not none: enable PrioritySort',
    ],
  ])('apply to a profile: %j', (text, problem) => {
    expect(profileProblemsOf(text)).toEqual([problem]);
  });

  it('apply across profiles', () => {
    expect(problemsOf('profiles:\n- schedulerName: a\n- {}\n- schedulerName: a')).toEqual([
      '5:3: profiles[1].schedulerName is missing; with several profiles each needs a unique name',
      '6:3: profiles[2].schedulerName must differ from profiles[0].schedulerName; both are "a"',
    ]);
  });

  it.each([
    ['{enabled: 1}', '4:18: profiles[0].reservations.enabled must be true or false, not 1'],
    [
      '{enabled: true, poolLabel: "a b"}',
      '4:33: profiles[0].reservations.poolLabel must be the key of a node label such as example.com/pool, not "a b"',
    ],
    [
      '{reserveAfterSeconds: -1, drainAfterSeconds: -2}',
      '4:18: profiles[0].reservations.reserveAfterSeconds must be a whole number from 0 to 2147483647, not -1',
      '4:43: profiles[0].reservations.drainAfterSeconds must be a whole number from 0 to 2147483647, not -2',
    ],
    [
      '{enabled: true, reserveAfterSeconds: 900}',
      '4:3: profiles[0].reservations.drainAfterSeconds must be at least reserveAfterSeconds (900), not 600 (the default)',
    ],
    [
      '{enabled: true, drainAfterSeconds: 59}',
      '4:33: profiles[0].reservations.drainAfterSeconds must be at least reserveAfterSeconds (60), not 59',
    ],
    ['{enabled: true, holdAfter: 1}', expect.stringContaining('reservations.holdAfter is not a known field')],
  ])('apply to reservations: %s', (reservations, ...problems) => {
    expect(profileProblemsOf(`reservations: ${reservations}`)).toEqual(problems);
  });

  it('require the same pools in all profiles with reservations', () => {
    const three = (...reservations: readonly string[]): readonly string[] =>
      problemsOf(
        `profiles:\n${reservations.map((given, index) => `- schedulerName: s${index}\n  reservations: ${given}\n`).join('')}`,
      );
    const pools = '{enabled: true, poolLabel: a}';
    expect(three('{poolLabel: b}', pools, pools)).toEqual([]);
    const must = 'poolLabel must be the same in all profiles with reservations, because they share the nodes';
    expect(three('{}', pools, '{enabled: true}')).toEqual([
      `9:3: profiles[2].reservations.${must}: this profile has none, profiles[1] has "a"`,
    ]);
    expect(three('{enabled: true}', pools, '{enabled: true}')).toEqual([
      `7:33: profiles[1].reservations.${must}: this profile has "a", profiles[0] has none`,
    ]);
  });

  it('require the same order of the shared queue in all profiles', () => {
    const byAge = { name: 'ByAge', points: ['queueSort'] } as const;
    const two = (second: string): readonly string[] =>
      diagnosticsOf(`${header}profiles:\n- {schedulerName: a}\n- schedulerName: b\n${second}`, [byAge]).problems;
    const instead = '      enabled: [{name: ByAge}]\n      disabled: [{name: PrioritySort}]\n';
    expect(two(`  plugins:\n    queueSort:\n${instead}`)).toEqual([
      '7:5: profiles[1].plugins.queueSort must be the same in all profiles, because they share one queue: ' +
        'this profile uses ByAge, profiles[0] uses PrioritySort',
    ]);
    expect(two('  plugins: {queueSort: {enabled: [{name: ByAge}]}}')).toEqual([
      '6:13: profiles[1].plugins.queueSort must leave exactly one queueSort plugin, ' +
        'not PrioritySort and ByAge: disable all but one',
    ]);
    const sorted = (name: string, args: string): string =>
      `- schedulerName: ${name}\n  plugins:\n    queueSort:\n${instead}  pluginConfig: [{name: ByAge, args: ${args}}]\n`;
    expect(
      diagnosticsOf(`${header}profiles:\n${sorted('a', '{x: 1}')}${sorted('b', '{x: 1}')}`, [byAge]).problems,
    ).toEqual([]);
    expect(
      diagnosticsOf(`${header}profiles:\n${sorted('a', '{x: 1}')}${sorted('b', '{x: 2}')}`, [byAge]).problems,
    ).toEqual([
      '15:3: profiles[1].pluginConfig must set the same args for ByAge as profiles[0], because all profiles share one queue',
    ]);
  });

  it.each([
    ['{}', '4:3: extenders[0].urlPrefix is missing; it must be a URL such as http://127.0.0.1:8080/scheduler'],
    [
      '{urlPrefix: "127.0.0.1"}',
      '4:4: extenders[0].urlPrefix must be a URL such as http://127.0.0.1:8080/scheduler, not "127.0.0.1"',
    ],
    [
      '{urlPrefix: "http://x", prioritizeVerb: p}',
      '4:3: extenders[0].weight is missing; it must be a whole number of at least 1 if prioritizeVerb is set',
    ],
    [
      '{urlPrefix: "http://x", prioritizeVerb: p, weight: 0}',
      '4:46: extenders[0].weight must be a whole number of at least 1 if prioritizeVerb is set, not 0',
    ],
    [
      '{urlPrefix: "http://x", bindVerb: b}\n- {urlPrefix: "http://y", bindVerb: b}',
      '5:27: extenders[1].bindVerb must be absent: only one extender may bind, and extenders[0] already does',
    ],
    [
      '{urlPrefix: "http://x", managedResources: [{name: cpu}]}',
      '4:47: extenders[0].managedResources[0].name must be the name of an extended resource such as "example.com/gpu", not "cpu"',
    ],
    [
      '{urlPrefix: "http://x", managedResources: [{name: kubernetes.io/x}]}',
      '4:47: extenders[0].managedResources[0].name must be the name of an extended resource such as "example.com/gpu", not "kubernetes.io/x"',
    ],
    [
      '{urlPrefix: "http://x", managedResources: [{name: a.b/c}]}\n- {urlPrefix: "http://y", managedResources: [{name: a.b/c}]}',
      '5:47: extenders[1].managedResources[0].name must be unique: extenders[0].managedResources[0] also has a.b/c',
    ],
    [
      '{urlPrefix: "http://x", httpTimeout: 5}',
      '4:27: extenders[0].httpTimeout must be a duration such as 15s or 1m30s, not 5',
    ],
    [
      '{urlPrefix: "http://x", tlsConfig: {insecure: 1}}',
      '4:39: extenders[0].tlsConfig.insecure must be true or false, not 1',
    ],
    [
      '{urlPrefix: http://x, managedResources: [{name: "e..x/y"}]}',
      '4:45: extenders[0].managedResources[0].name must be the name of an extended resource such as "example.com/gpu", not "e..x/y"',
    ],
    [
      '{urlPrefix: http://x, managedResources: [{name: akubernetes.io/y}]}',
      '4:45: extenders[0].managedResources[0].name must be the name of an extended resource such as "example.com/gpu", not "akubernetes.io/y"',
    ],
    [
      '{urlPrefix: http://x, weight: 9223372036854775808}',
      '4:25: extenders[0].weight must be a whole number of at most 9007199254740991, not 9223372036854776000',
    ],
    [
      '{urlPrefix: http://x, httpTimeout: 2562048h}',
      '4:25: extenders[0].httpTimeout must be a duration such as 15s or 1m30s, not "2562048h"',
    ],
    [
      '{urlPrefix: http://x, tlsConfig: {caData: YWJ}}',
      '4:37: extenders[0].tlsConfig.caData must be PEM in base64, not "YWJ"',
    ],
    [
      '{urlPrefix: http://x, tlsConfig: {insecure: true, caFile: /ca}}',
      '4:25: extenders[0].tlsConfig must set insecure to false with caFile or caData, which verify the server',
    ],
    [
      '{urlPrefix: http://x, tlsConfig: {certFile: /crt, keyData: ""}}',
      '4:25: extenders[0].tlsConfig must have both a client certificate and its key',
    ],
  ])('apply to extenders: %j', (text, problem) => {
    expect(problemsOf(`extenders:\n- ${text}`)).toEqual([problem]);
  });

  it.each([
    [
      'DefaultPreemption',
      '{minCandidateNodesPercentage: 101}',
      'minCandidateNodesPercentage must be a whole number from 0 to 100, not 101',
    ],
    [
      'DefaultPreemption',
      '{minCandidateNodesAbsolute: -1}',
      'minCandidateNodesAbsolute must be a whole number of at least 0, not -1',
    ],
    [
      'DefaultPreemption',
      '{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}',
      'minCandidateNodesAbsolute must be at least 1 if minCandidateNodesPercentage is 0',
    ],
    [
      'DefaultPreemption',
      '{terminationSlackSeconds: 900}',
      'terminationSlackSeconds must be less than maxNominationSeconds (got 900 and 900): otherwise no pod could terminate in time; lower it, or raise the other',
    ],
    [
      'DefaultPreemption',
      '{backoffSeconds: {initial: 7200}}',
      'backoffSeconds.initial must not be more than max (got 7200 and 3600): lower initial, or raise max',
    ],
    [
      'DefaultPreemption',
      '{maxVictims: 2, maxVictimGroups: 3}',
      'maxVictimGroups must not be more than maxVictims (got 3 and 2): a group has at least one pod; lower it, or raise maxVictims',
    ],
    [
      'DefaultPreemption',
      '{preemptionDelaySeconds: 86401}',
      'preemptionDelaySeconds must be a whole number from 0 to 86400, not 86401',
    ],
    [
      'InterPodAffinity',
      '{hardPodAffinityWeight: 101}',
      'hardPodAffinityWeight must be a whole number from 0 to 100, not 101',
    ],
    [
      'NodeResourcesBalancedAllocation',
      '{resources: [{name: cpu, weight: 2}]}',
      'resources[0].weight must be 1, because all resources have the same weight, not 2',
    ],
    [
      'NodeResourcesBalancedAllocation',
      '{resources: [{name: cpu}, {name: cpu}]}',
      'resources[1] must differ from resources[0] in name; both have "cpu"',
    ],
    ['PodTopologySpread', '{defaultingType: Auto}', 'defaultingType must be System or List, not "Auto"'],
    [
      'PodTopologySpread',
      '{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}',
      'defaultConstraints must be empty if defaultingType is System; set defaultingType: List to use them',
    ],
    [
      'PodTopologySpread',
      '{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}',
      'defaultConstraints[0].maxSkew must be a whole number of at least 1, not 0',
    ],
    [
      'PodTopologySpread',
      '{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: "a b", whenUnsatisfiable: ScheduleAnyway}]}',
      'defaultConstraints[0].topologyKey must be a label such as "topology.kubernetes.io/zone", not "a b"',
    ],
    [
      'PodTopologySpread',
      '{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Never}]}',
      'defaultConstraints[0].whenUnsatisfiable must be DoNotSchedule or ScheduleAnyway, not "Never"',
    ],
    [
      'PodTopologySpread',
      '{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]}',
      'defaultConstraints[0].labelSelector must be absent: it is deduced from the services and owners of each pod',
    ],
    [
      'PodTopologySpread',
      '{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}',
      'defaultConstraints[1] must differ from defaultConstraints[0] in topologyKey or whenUnsatisfiable; both have "a" and "ScheduleAnyway"',
    ],
    ['VolumeBinding', '{bindTimeoutSeconds: -1}', 'bindTimeoutSeconds must be a whole number of at least 0, not -1'],
    ['VolumeBinding', '{shape: []}', 'shape must be a list of at least 1 element, not an empty list'],
    [
      'VolumeBinding',
      '{shape: [{utilization: 50, score: 1}, {utilization: 50, score: 2}]}',
      'shape[1].utilization must be greater than 50, the utilization of the previous point, not 50',
    ],
    [
      'VolumeBinding',
      '{shape: [{utilization: 0, score: 11}]}',
      'shape[0].score must be a whole number from 0 to 10, not 11',
    ],
    ['DynamicResources', '{filterTimeout: -1s}', 'filterTimeout must be a duration such as 10s, not "-1s"'],
    ['DynamicResources', '{bindingTimeout: 500ms}', 'bindingTimeout must be a duration of at least 1s, not "500ms"'],
    [
      'NodeResourcesFit',
      '{ignoredResourceGroups: [a/b]}',
      expect.stringMatching(/^ignoredResourceGroups\[0\] must be the part of a resource name before/),
    ],
    [
      'NodeResourcesFit',
      '{ignoredResources: [a b]}',
      expect.stringMatching(/^ignoredResources\[0\] must be a resource name/),
    ],
    ['NodeResourcesFit', '{scoringStrategy: {}}', expect.stringMatching(/^scoringStrategy.type is missing/)],
    [
      'NodeResourcesFit',
      '{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}]}}',
      'scoringStrategy.resources[0].weight must be a whole number from 1 to 100, not 101',
    ],
    [
      'NodeAffinity',
      '{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {}}]}}',
      'addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight must be a whole number from 1 to 100, not 101',
    ],
  ])('apply to the arguments of %s: %s', (name, args, problem) => {
    const problems = profileProblemsOf(`pluginConfig: [{name: ${name}, args: ${args}}]`);
    const field = typeof problem === 'string' ? `profiles[0].pluginConfig[0].args.${problem}` : problem;
    expect(
      problems.map((text) =>
        text
          .replace(/^4:\d+: /, '')
          .replace(typeof problem === 'string' ? '' : 'profiles[0].pluginConfig[0].args.', ''),
      ),
    ).toEqual([field]);
  });
});

it('reports all errors of a file at once, in file order, with their positions', () => {
  const text = [
    'apiVersion: kubescheduler.config.k8s.io/v1',
    'kind: KubeSchedulerConfiguration',
    'podInitialBackoffSeconds: 0',
    'clientConnection:',
    '  qps: fast',
    '  kubeConfig: /etc/kubernetes/scheduler.conf',
    'profiles:',
    '- schedulerName: batch',
    '  plugins:',
    '    score:',
    '      enabled:',
    '      - name: NodeResourcesFit',
    '        weight: 5',
    '      - name: GangScheduling',
    '        weight: heavy',
    '    queueSort:',
    '      disabled:',
    '      - name: "*"',
    '  pluginConfig:',
    '  - name: Coscheduling',
    '    args:',
    '      permitWaitTimeSeconds: 10',
    '- schedulerName: batch',
    '  schedulerName: batch',
  ].join('\n');
  expect(diagnosticsOf(text).problems).toEqual([
    '3:1: podInitialBackoffSeconds must be a whole number from 1 to 9007199254740, not 0',
    '5:3: clientConnection.qps must be a number, not "fast"',
    '6:3: clientConnection.kubeConfig is not a known field; did you mean kubeconfig? ' +
      'The fields are kubeconfig, acceptContentTypes, contentType, qps, burst',
    '14:9: profiles[0].plugins.score.enabled[1].name is GangScheduling, a plugin of kube-scheduler that Tutti does not ' +
      `have yet: remove it, or use one of ${pluginNames}`,
    '15:9: profiles[0].plugins.score.enabled[1].weight must be a whole number from 0 to 2147483647, not "heavy"',
    '16:5: profiles[0].plugins.queueSort must leave exactly one queueSort plugin, not none: enable PrioritySort',
    '22:7: profiles[0].pluginConfig[0].args.permitWaitTimeSeconds is not a known field; did you mean permitWaitingTimeSeconds? ' +
      'The fields are permitWaitingTimeSeconds, podGroupBackoffSeconds, podGroupRejectPercentage',
    '23:3: profiles[1].schedulerName must differ from profiles[0].schedulerName; both are "batch"',
    '24:3: profiles[1].schedulerName is set twice; the first is on line 23',
  ]);
});
