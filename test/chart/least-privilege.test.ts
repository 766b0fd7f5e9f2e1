import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingPermissionMessage, missingRightKey, missingRights } from '../../scripts/chart/missing-rights.ts';
import { systemClock as clock } from '../../src/base/system-clock.ts';
import { tryGang } from '../../src/cli/verify/gang-dry-run.ts';
import { ForbiddenError } from '../../src/client/api-errors.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import type { LogLine } from '../scenarios/log-lines.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { ApiAudit } from '../planes/real/api-audit.ts';
import type { AuditedCall } from '../planes/real/api-audit.ts';
import { kubeconfigOf } from '../planes/real/service-accounts.ts';
import { InstalledRights } from './installed-rights.ts';
import { rendered } from './rendered-chart.ts';
import { isRole, nameOf, rejectedIn, rightsOf, roleNameOf } from './right.ts';
import type { Right } from './right.ts';
import { RightsStory, allRights } from './rights-story.ts';

const programs = await provideForSuite('least privilege', ['etcd', 'kube-apiserver']);

const roles = (await rendered(allRights('reduced'), { namespace: 'reduced' })).filter(isRole);
const rights = of('scheduler', 'scheduler-lease', 'controller', 'controller-lease');

function of(...names: readonly string[]): readonly Right[] {
  return names.flatMap((name) => roles.filter((role) => roleNameOf(role) === name).flatMap(rightsOf));
}

function accountOf({ role }: Right): string {
  return `tutti-${role.split('-')[0]}`;
}

describe.skipIf(programs.state === 'missing')('Least privilege on a real kube-apiserver with RBAC', () => {
  const real = planeForSuite(programs, { audited: true, featureGates: ['GenericWorkload'] });
  let audit: ApiAudit;
  const installed: InstalledRights[] = [];

  beforeAll(async () => {
    audit = new ApiAudit(real());
  });

  afterAll(async () => {
    for (const each of installed) await each.close();
  });

  async function install(namespace: string, values: object, ...more: readonly string[]): Promise<InstalledRights> {
    const made = await InstalledRights.install(real(), namespace, values, more);
    installed.push(made);
    return made;
  }

  /** Returns what has not happened in the story yet, or which permissions it has not used; undefined when complete. */
  async function missingFrom(story: RightsStory, namespace: string): Promise<string | undefined> {
    const calls = await audit.callsFrom(namespace);
    const unused = rights.filter((right) => !calls.some((call) => uses(call, right)));
    return unused.length > 0 ? `no process used ${unused.map(describeRight).join(', ')}` : story.missing();
  }

  describe('each permission of the two ServiceAccounts', () => {
    let reduced: InstalledRights;

    beforeAll(async () => {
      if (programs.state === 'ready') reduced = await install('reduced', allRights('reduced'), 'reader');
    });

    it('is used in a story without rejections', async () => {
      await RightsStory.play(reduced, async (story) => {
        const missing = await missingFrom(story, 'reduced');
        if (missing === undefined) await story.changeLeaders();
        return missing;
      });
      expect(rejectedIn(await audit.callsFrom('reduced'))).toEqual([]);
    });

    it('is documented, and the documentation lists no other', () => {
      expect(new Set(Object.keys(missingRights))).toEqual(
        new Set(rights.map((right) => missingRightKey(accountOf(right), nameOf(right)))),
      );
    });

    it.each(rights.map((right) => [describeRight(right), right] as const))(
      '%s is missed when it is removed',
      async (_, right) => {
        const before = (await audit.callsFrom('reduced')).length;
        const giveBack = await reduced.take(right);
        const expected = [describeRight(right)];
        const rejected = async (): Promise<readonly string[]> =>
          rejectedIn((await audit.callsFrom('reduced')).slice(before));
        const { log, isNamed = true } = missingRights[missingRightKey(accountOf(right), nameOf(right))]!;
        const isMissing = ({ message, fields }: LogLine): boolean =>
          message === missingPermissionMessage && `${String(fields.verb)} ${String(fields.resource)}` === nameOf(right);
        await RightsStory.play(reduced, async ({ logged }) => {
          if ((await rejected()).length === 0) return `${expected.join()} is not rejected`;
          const isLogged = log === undefined || logged.lines.some(({ message }) => message === log);
          if (!isLogged) return `the log has no message ${log}`;
          if (isNamed && !logged.lines.some(isMissing)) return `the log does not name ${nameOf(right)}`;
          const others = logged.lines.filter(({ message }) => /^(list|watch) failed/.test(message));
          return others.some(({ level }) => level !== 'debug')
            ? 'a failed list or watch has a line of its own'
            : undefined;
        });
        await giveBack();
        expect(await rejected()).toEqual(expected);
      },
    );
  });

  describe('each permission of metrics and debug readers', () => {
    let watched: InstalledRights;
    const rejecting = ['/debug/explain', '/debug/events'];
    const paths = of('metrics-reader', 'debug-reader');

    beforeAll(async () => {
      if (programs.state !== 'ready') return;
      watched = await install('watched', allRights('watched'), 'reader');
      const name = 'tutti:watched:debug-reader';
      const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace: 'watched' }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
      const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name } };
      await real().client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        ...binding,
        roleRef,
        subjects,
      });
    });

    /** Asserts the scheduler's response status for each path. /debug/explain rejects a request that names nothing; the stream has no end. */
    async function expectAnswers(expected: 200 | 403): Promise<void> {
      await RightsStory.play(watched, async (story) => {
        const answers = await Promise.all(
          paths.map(async ({ resource }) => {
            const path = resource === '/debug/events' ? `${resource}?unknown` : resource;
            return [resource, (await story.ask(path))[0]!] as const;
          }),
        );
        const isExpected = ([path, status]: (typeof answers)[number]): boolean =>
          status === (expected === 200 && rejecting.includes(path) ? 400 : expected);
        return answers.every(isExpected) ? undefined : answers.join();
      });
    }

    it('gives access to a path, and without it the path is forbidden', async () => {
      expect(paths.map(nameOf)).toEqual([
        'get /metrics',
        'get /configz',
        'get /debug/cache',
        'get /debug/events',
        'get /debug/explain',
        'get /debug/groups',
        'get /debug/queue',
        'get /debug/snapshot',
      ]);
      await expectAnswers(200);
      await watched.take(...paths);
      await expectAnswers(403);
    });
  });

  describe('each permission of helm test', () => {
    let tested: InstalledRights;

    beforeAll(async () => {
      if (programs.state === 'ready') tested = await install('tested', {});
    });

    /** Does what `helm test` does; no scheduler binds its pods here. */
    async function tryAsTest(): Promise<void> {
      const endpoint = await loadKubeconfig({ clock, path: await kubeconfigOf(real(), 'tested', 'tutti-test') });
      const transport = new HttpTransport({ endpoint });
      const client = new KubeClient({ transport, clock, userAgent: 'tutti-tests' });
      const gang = { namespace: 'tested', schedulerName: 'none', image: 'none', timeoutMs: 1 };
      const { signal } = new AbortController();
      try {
        await tryGang({ ...gang, client, clock, random: Math.random, signal });
      } catch (error) {
        if (!(error instanceof ForbiddenError)) throw error;
      } finally {
        await transport.close();
      }
    }

    it('is used, and missed when it is removed', async () => {
      await tryAsTest();
      expect(rejectedIn(await audit.callsFrom('tested'))).toEqual([]);
      for (const right of of('test')) {
        const before = (await audit.callsFrom('tested')).length;
        const giveBack = await tested.take(right);
        await tryAsTest();
        expect(rejectedIn((await audit.callsFrom('tested')).slice(before))).toEqual([`tutti-test: ${nameOf(right)}`]);
        await giveBack();
      }
    });
  });

  it('works with the cluster’s own roles and a small additional one', async () => {
    const values = { ...allRights('stock'), rbac: { stockRoles: true } };
    await RightsStory.play(await install('stock', values, 'reader'), (story) => missingFrom(story, 'stock'));
    expect(rejectedIn(await audit.callsFrom('stock'))).toEqual([]);
  });

  it('works without the binding in kube-system, and logs that', async () => {
    const values = { ...allRights('unbound'), rbac: { authReader: false } };
    await RightsStory.play(await install('unbound', values, 'reader'), async (story) => {
      const isLogged = story.logged.lines.some(({ message }) => message.startsWith('cannot read certificates'));
      return isLogged ? missingFrom(story, 'unbound') : 'nothing is logged';
    });
    expect(rejectedIn(await audit.callsFrom('unbound'))).toEqual([
      'tutti-controller: get configmaps',
      'tutti-scheduler: get configmaps',
    ]);
  });
});

function describeRight(right: Right): string {
  return `${accountOf(right)}: ${nameOf(right)}`;
}

function uses({ user, verb, group, resource, code }: AuditedCall, right: Right): boolean {
  const isAsked = verb === right.verb && group === right.group && resource === right.resource;
  return isAsked && code !== 403 && user.endsWith(`:${accountOf(right)}`);
}
