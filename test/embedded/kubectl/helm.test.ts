import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { helmPath, helmVersions, kubectlVersions } from '../../planes/kubectl.ts';
import { Helm } from './helm-command.ts';
import { table } from './kubectl-command.ts';
import { describeSession } from './recorded-session.ts';

const chart = join(import.meta.dirname, '..', '..', 'fixtures', 'charts', 'sample');
const charted = 'configmap,secret,serviceaccount,role,rolebinding,deployment,service,pdb,networkpolicy';
const notNamespaced = 'clusterrole,clusterrolebinding,priorityclass';

interface Release {
  readonly name: string;
  readonly status: string;
  readonly revision: string;
}

describe.each(helmVersions)('helm %s', (version) => {
  describeSession(
    `helm-${version}`,
    (session) => {
      let helm: Helm;
      const list = async (): Promise<Release[]> => JSON.parse(await helm.ok('list -n apps -o json')) as Release[];
      const greeting = (): Promise<string> =>
        session().kubectl.ok('get configmap web -n apps -o jsonpath={.data.greeting}');

      const replicas = (): Promise<string> =>
        session().kubectl.ok('get deployment web -n apps -o jsonpath={.spec.replicas}');

      beforeAll(async () => {
        const { plane } = session();
        helm = new Helm(await helmPath(version), plane.kubeconfigPath, plane.folder);
      });

      it('says what it would install, with everything that the server adds', async () => {
        const { kubectl } = session();
        const text = await helm.ok('install web', chart, '--dry-run=server', '-n', 'default');
        expect(text).toMatch(/^kind: Deployment$/m);
        expect(await list()).toEqual([]);
        expect(await kubectl.ok('get deployments,configmaps -n default -o name')).not.toMatch(/web/);
      });

      it('installs every object of a chart, into a namespace that it makes', async () => {
        const { kubectl } = session();
        expect(await helm.ok('install web', chart, '-n', 'apps', '--create-namespace')).toMatch(/^STATUS: deployed$/m);
        const names = (await kubectl.ok(`get ${charted} -n apps -o name --field-selector metadata.name=web`)).trimEnd();
        expect(names.split('\n')).toHaveLength(charted.split(',').length);
        const others = await kubectl.ok(`get ${notNamespaced} -o name --field-selector metadata.name=web`);
        expect(others.trimEnd().split('\n')).toHaveLength(notNamespaced.split(',').length);
        expect(await kubectl.ok('get widgets -n apps')).toBe('');
        expect(await greeting()).toBe('hello');
      });

      it('shows the release', async () => {
        expect(await helm.ok('status web -n apps')).toMatch(/^REVISION: 1$/m);
        expect(await list()).toMatchObject([{ name: 'web', status: 'deployed', revision: '1' }]);
      });

      it('refuses a name that is in use', async () => {
        expect(await helm.fails('install web', chart, '-n', 'apps')).toMatch(
          /cannot re-?use a name that is still in use/,
        );
      });

      it('runs the tests of the chart on a simulated node', async () => {
        expect(await helm.ok('test web -n apps')).toMatch(/^Phase: +Succeeded$/m);
        const [, pod] = table(await session().kubectl.ok('get pod web-check -n apps'));
        expect(pod).toEqual(['web-check', '0/1', 'Completed', '0', expect.any(String)]);
      });

      it('upgrades, and tells apart what is changed from what others have changed', async () => {
        const { kubectl } = session();
        await kubectl.ok('label configmap web -n apps team=blue');
        await helm.ok('upgrade web', chart, '-n', 'apps', '--set', 'greeting=bye,replicas=3');
        expect(await greeting()).toBe('bye');
        expect(await kubectl.ok('get deployment web -n apps -o jsonpath={.spec.replicas}:{.metadata.generation}')).toBe(
          '3:2',
        );
        expect(await kubectl.ok('get configmap web -n apps -o jsonpath={.metadata.labels.team}')).toBe('blue');
      });

      it('refuses values that the server refuses, and keeps the release', async () => {
        const complaint = await helm.fails('upgrade web', chart, '-n', 'apps', '--set', 'replicas=-1');
        expect(complaint).toMatch(/spec\.replicas: Invalid value: -1: must be greater than or equal to 0/);
        expect(await helm.ok('history web -n apps')).toMatch(/3 .*failed/);
      });

      it('rolls back', async () => {
        await helm.ok('rollback web 1 -n apps');
        expect(await greeting()).toBe('hello');
        expect(await replicas()).toBe('1');
        expect(table(await helm.ok('history web -n apps')).length).toBe(5);
      });

      it('uninstalls all but what is to be kept', async () => {
        const { kubectl } = session();
        expect(await helm.ok('uninstall web -n apps')).toMatch(/widgets\.sample\.example\.com/);
        expect(await list()).toEqual([]);
        expect(await kubectl.ok(`get ${charted} -n apps -o name --field-selector metadata.name=web`)).toBe('');
        expect(await kubectl.ok('get crd widgets.sample.example.com -o name')).toMatch(/widgets/);
      });

      it('takes over what was kept when the chart is installed again', async () => {
        await helm.ok('install web', chart, '-n', 'apps');
        await helm.ok('uninstall web -n apps');
      });
    },
    [kubectlVersions[helmVersions.indexOf(version)]!],
  );
});
