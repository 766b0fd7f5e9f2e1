import { expect, it } from 'vitest';
import { table } from './kubectl-command.ts';
import { listOf, podGroup, worker } from './manifests.ts';
import { describeSession } from './recorded-session.ts';

/** Returns a PodGroup of Kubernetes itself. */
function nativeGang(name: string, minCount: number): object {
  return {
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { schedulingPolicy: { gang: { minCount } } },
  };
}

describeSession('native-gangs', (session) => {
  it('applies groups of both APIs, and changes them', async () => {
    const { kubectl } = session();
    const both = (quorum: number): object => listOf(nativeGang('native', quorum), podGroup('plugin', quorum));
    const saying = (word: string): string =>
      ['scheduling.k8s.io/native', 'scheduling.x-k8s.io/plugin'].map((name) => `podgroup.${name} ${word}\n`).join('');
    expect(await kubectl.ok('apply -f -', [], both(2))).toBe(saying('created'));
    expect(await kubectl.ok('apply -f -', [], both(2))).toBe(saying('unchanged'));
    expect(await kubectl.ok('apply -f -', [], both(3))).toBe(saying('configured'));
  });

  it.each(['podgroups', 'podgroup', 'podgroups.scheduling.k8s.io'])(
    'shows the groups of Kubernetes itself under the name %s, as on a cluster',
    async (words) => {
      expect(table(await session().kubectl.ok(`get ${words}`))).toEqual([
        ['NAME', 'POLICY', 'WORKLOAD', 'STATUS', 'AGE'],
        ['native', 'Gang', '<none>', 'Pending', expect.stringMatching(/^\d+s$/)],
      ]);
    },
  );

  it.each(['pg', 'podgroups.scheduling.x-k8s.io'])('shows those of the CRD under the name %s', async (words) => {
    expect(await session().kubectl.ok(`get ${words} -o name`)).toBe('podgroup.scheduling.x-k8s.io/plugin\n');
  });

  it('describes and explains a group', async () => {
    const { kubectl } = session();
    expect(await kubectl.ok('describe podgroup native')).toMatch(/Scheduling Policy:\n +Gang:\n +Min Count: +3\n/);
    expect(await kubectl.ok('explain podgroup.spec.schedulingPolicy.gang')).toMatch(
      /^GROUP: +scheduling\.k8s\.io\nKIND: +PodGroup\nVERSION: +v1beta1\n[^]*FIELDS:\n +minCount\t<integer>/,
    );
  });

  it('rejects a change of the policy', async () => {
    const stderr = await session().kubectl.fails('patch podgroup native --type=merge -p', [
      '{"spec":{"schedulingPolicy":{"gang":null,"basic":{}}}}',
    ]);
    expect(stderr).toMatch(/spec\.schedulingPolicy\.basic: Invalid value: null: field is immutable/);
  });

  it('shows when a gang has started', async () => {
    const { kubectl } = session();
    const members = ['native-0', 'native-1', 'native-2'].map((name) => {
      const pod = worker(name) as { readonly spec: object };
      return { ...pod, spec: { ...pod.spec, schedulingGroup: { podGroupName: 'native' } } };
    });
    await kubectl.ok('create -f -', [], listOf(...members));
    await kubectl.ok('wait podgroup/native --for=condition=PodGroupInitiallyScheduled --timeout=60s');
    expect(await kubectl.ok('get podgroup native --no-headers')).toMatch(/^native +Gang +<none> +Scheduled /);
  });

  it('deletes a group', async () => {
    expect(await session().kubectl.ok('delete podgroup native')).toMatch(
      /^podgroup\.scheduling\.k8s\.io "native" deleted/,
    );
  });
});
