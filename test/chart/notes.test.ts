import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { chartFolder, helm } from '../planes/helm.ts';

/** Returns the notes that Helm prints after an installation. Only Helm 4 prints them without a cluster. */
async function notes(values: object = {}, release = 'tutti'): Promise<string> {
  const { exitCode, stdout, stderr } = await helm(
    ['install', release, chartFolder, '--namespace', 'gangs', '--dry-run=client'],
    { values, version: '4.1' },
  );
  if (exitCode !== 0) throw new Error(stderr);
  return stdout.slice(stdout.indexOf('\nNOTES:\n') + 8);
}

describe('The notes', () => {
  test('list the next steps with the names of the release', async () => {
    const text = await notes({ config: { profiles: [{ schedulerName: 'one' }, { schedulerName: 'two' }] } }, 'a.b');
    expect(text).toContain('Tutti schedules the pods whose spec.schedulerName is one or two.');
    expect(text).toContain('kubectl --namespace gangs rollout status deployment/a-b-tutti-scheduler');
    const manifests = /<<EOF\n([^]*)\n *EOF/.exec(text)?.[1] ?? '';
    const documents = parseAllDocuments(manifests.replaceAll(/^ {3}/gm, ''));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(documents.map((document) => document.toJSON() as object)).toMatchObject([
      { kind: 'PodGroup', spec: { minMember: 2 } },
      { kind: 'Job', spec: { template: { spec: { schedulerName: 'one' } } } },
    ]);
  });

  test.each([
    ['a CRD that is not part of the release', { crds: { install: false } }, "apply crds/ of Tutti's sources"],
    ['a single scheduler', {}, 'scheduler.replicaCount=2'],
    [
      'monitors that are left out',
      { metrics: { prometheusRule: { enabled: true } } },
      'metrics.prometheusRule has no effect: the cluster does not have the kind PrometheusRule.',
    ],
    [
      'monitors that cannot scrape',
      { metrics: { serviceMonitor: { enabled: true } } },
      "The NetworkPolicy admits no scrapes: list Prometheus' ServiceAccount in metrics.readers",
    ],
    [
      'replacing the default scheduler',
      { scheduler: { name: 'default-scheduler' }, podSchedulerName: 'other' },
      'Stop kube-scheduler, otherwise both schedule them.',
    ],
  ])('begin with a warning about %s', async (_, values, text) => {
    const [warnings] = (await notes(values)).split('\n\nTutti schedules');
    expect(warnings).toContain(text);
    for (const line of warnings!.split('\n')) expect(line).toMatch(/^\* /);
  });

  test('say that pods may be evicted, unless preemption is off', async () => {
    expect(await notes({})).toContain('To turn that off, set preemption.enabled=false.');
    expect(await notes({ preemption: { enabled: false } })).not.toContain('preemption');
  });

  test('contain no warnings when there is no problem', async () => {
    expect(await notes({ scheduler: { replicaCount: 2 } })).toMatch(/^\s*Tutti schedules/);
  });
});
