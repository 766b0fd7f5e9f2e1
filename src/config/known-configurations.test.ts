import { describe, expect, it } from 'vitest';
import { describeConfiguration } from './describe-configuration.ts';
import type { KnownPlugin } from './known-plugin.ts';
import { parseConfiguration } from './parse-configuration.ts';
import { defaultsAt } from './testing/defaults-at.ts';
import { diagnosticsOf } from './testing/diagnostics-of.ts';

// The configurations in the documentation of kube-scheduler and of scheduler-plugins, verbatim where the wording matters. The
// plugins of their examples are plugins of the caller here.

const own = (...names: readonly string[]): readonly KnownPlugin[] =>
  names.map((name) => ({ name, points: ['preFilter', 'filter', 'preScore', 'score'] }));
const v1 = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

function linesOf(text: string, plugins: readonly KnownPlugin[] = []): readonly string[] {
  return describeConfiguration(parseConfiguration('f.yaml', text, plugins).configuration, plugins);
}

describe("an example in kube-scheduler's documentation", () => {
  it('may be minimal', () => {
    const text = `${v1}clientConnection:\n  kubeconfig: /etc/srv/kubernetes/kube-scheduler/kubeconfig\n`;
    expect(diagnosticsOf(text)).toEqual({ problems: [], warnings: [] });
    expect(parseConfiguration('f.yaml', text).configuration.clientConnection.kubeconfig).toBe(
      '/etc/srv/kubernetes/kube-scheduler/kubeconfig',
    );
  });

  it('may disable a default and enable two plugins at score', () => {
    const text = `${v1}profiles:
  - plugins:
      score:
        disabled:
        - name: PodTopologySpread
        enabled:
        - name: MyCustomPluginA
          weight: 2
        - name: MyCustomPluginB
          weight: 1
`;
    expect(linesOf(text, own('MyCustomPluginA', 'MyCustomPluginB'))).toContain(
      `  score: ${defaultsAt('score', { without: ['PodTopologySpread'] })}, MyCustomPluginA(2), MyCustomPluginB(1)`,
    );
  });

  it('may define two profiles, one without scoring', () => {
    const text = `${v1}profiles:
  - schedulerName: default-scheduler
  - schedulerName: no-scoring-scheduler
    plugins:
      preScore:
        disabled:
        - name: '*'
      score:
        disabled:
        - name: '*'
`;
    const lines = linesOf(text);
    const second = lines.slice(lines.indexOf('profile no-scoring-scheduler'));
    expect(lines).toContain(`  score: ${defaultsAt('score')}`);
    expect(second).toContain('  bind: DefaultBinder');
    expect(second.join()).not.toMatch(/score:/i);
  });

  it('may enable a plugin by multiPoint, with the same result as point by point', () => {
    const byPoints = ['preScore', 'score', 'preFilter', 'filter'].map(
      (point) => `      ${point}:\n        enabled:\n        - name: MyPlugin\n`,
    );
    const profile = `${v1}profiles:\n  - schedulerName: a\n    plugins:\n`;
    const everywhere = linesOf(
      `${profile}      multiPoint:\n        enabled:\n        - name: MyPlugin\n`,
      own('MyPlugin'),
    );
    expect(everywhere).toEqual(linesOf(profile + byPoints.join(''), own('MyPlugin')));
    expect(everywhere).toContain(`  preScore: ${defaultsAt('preScore')}, MyPlugin`);
  });

  it('may enable a default at score only, which then runs first', () => {
    const text = `${v1}profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      score:
        enabled:
        - name: 'NodeResourcesFit'
          weight: 5
`;
    expect(linesOf(text)).toContain(
      `  score: NodeResourcesFit(5), ${defaultsAt('score', { without: ['NodeResourcesFit'] })}`,
    );
  });

  it('shows the precedence of multiPoint', () => {
    const text = `${v1}profiles:
  - schedulerName: multipoint-scheduler
    plugins:
      multiPoint:
        enabled:
        - name: 'CustomQueueSort'
        - name: 'CustomPlugin1'
          weight: 3
        - name: 'CustomPlugin2'
        disabled:
        - name: 'PrioritySort'
      filter:
        disabled:
        - name: 'NodeAffinity'
      score:
        enabled:
        - name: 'NodeResourcesFit'
`;
    const custom: readonly KnownPlugin[] = [
      { name: 'CustomQueueSort', points: ['queueSort'] },
      { name: 'CustomPlugin1', points: ['score', 'filter'] },
      { name: 'CustomPlugin2', points: ['score', 'filter'] },
    ];
    expect(linesOf(text, custom)).toEqual(
      expect.arrayContaining([
        '  queueSort: CustomQueueSort',
        `  filter: ${defaultsAt('filter', { without: ['NodeAffinity'] })}, CustomPlugin1, CustomPlugin2`,
        `  score: NodeResourcesFit(1), ${defaultsAt('score', { without: ['NodeResourcesFit'] })}, CustomPlugin1(3), CustomPlugin2(1)`,
      ]),
    );
  });

  it('may use the scoring strategy of the migration from v1beta1', () => {
    const text = `${v1.replace('v1', 'v1beta2')}profiles:
- pluginConfig:
  - args:
      scoringStrategy:
        resources:
        - name: cpu
          weight: 1
        type: MostAllocated
    name: NodeResourcesFit
`;
    expect(diagnosticsOf(text).problems).toEqual([]);
    const [profile] = parseConfiguration('f.yaml', text).configuration.profiles;
    expect(profile!.points!.filter!.enabled!.find(({ name }) => name === 'NodeResourcesFit')!.args).toMatchObject({
      scoringStrategy: { type: 'MostAllocated', resources: [{ name: 'cpu', weight: 1 }] },
    });
  });
});

describe("an example in scheduler-plugins' documentation", () => {
  const pointByPoint = (version: string, more: string): string => `apiVersion: kubescheduler.config.k8s.io/${version}
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: "REPLACE_ME_WITH_KUBE_CONFIG_PATH"
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort:
      enabled:
      - name: Coscheduling
      disabled:
      - name: "*"
    preFilter:
      enabled:
      - name: Coscheduling
    postFilter:
      enabled:
      - name: Coscheduling
    permit:
      enabled:
      - name: Coscheduling
    reserve:
      enabled:
      - name: Coscheduling
${more}`;

  it.each([
    ['v1', ''],
    ['v1beta3', '  pluginConfig:\n  - name: Coscheduling\n    args:\n      permitWaitingTimeSeconds: 10\n'],
    ['v1beta2', '    postBind:\n      enabled:\n      - name: Coscheduling\n'],
  ])('may enable Coscheduling point by point, in %s', (version, more) => {
    const text = pointByPoint(version, more);
    const { problems, warnings } = diagnosticsOf(text);
    expect(problems).toEqual([]);
    expect(warnings.filter((warning) => !warning.includes('deprecated'))).toEqual(
      [20, ...(version === 'v1beta2' ? [29] : [])].map((line) =>
        expect.stringMatching(`^${line}:9: .*in Tutti, Coscheduling does not implement post(Filter|Bind)`),
      ),
    );
    expect(linesOf(text)).toEqual(
      expect.arrayContaining([
        '  queueSort: PrioritySort',
        '  permit: Coscheduling',
        expect.stringMatching(/^ {2}reserve: .*Coscheduling/),
      ]),
    );
  });

  it('from the chart works without the plugins that Tutti does not have', () => {
    const text = `${v1}leaderElection:
  leaderElect: false
profiles:
# Compose all plugins in one profile
- schedulerName: scheduler-plugins-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: Coscheduling
      - name: CapacityScheduling
      - name: NodeResourceTopologyMatch
      - name: NodeResourcesAllocatable
      disabled:
      - name: PrioritySort
  pluginConfig:
  - args:
      permitWaitingTimeSeconds: 10
    name: Coscheduling
`;
    expect(diagnosticsOf(text).problems).toEqual(
      [12, 13, 14].map((line) =>
        expect.stringMatching(`^${line}:9: .*a plugin of scheduler-plugins that Tutti does not have`),
      ),
    );
    const rest = text.replace(/ {6}- name: (Cap|NodeR).*\n/g, '');
    expect(diagnosticsOf(rest)).toEqual({ problems: [], warnings: [] });
    expect(linesOf(rest)).toContain('  queueSort: PrioritySort');
  });
});
