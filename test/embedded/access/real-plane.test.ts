import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../src/client/kube-client.ts';
import { openEmbeddedPlane } from '../../planes/embedded.ts';
import type { TestPlane } from '../../planes/plane.ts';
import { poll } from '../../planes/poll.ts';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../../planes/real/real-plane.ts';
import { tokenOf } from '../../planes/real/service-accounts.ts';
import { bent, bends } from './bent-tokens.ts';
import { accessCases, questions } from './access-cases.ts';
import type { AccessCase, Question } from './access-cases.ts';

const programs = await provideForSuite('that it lets in whom the embedded plane lets in', ['etcd', 'kube-apiserver']);
const runs = Number(process.env.TUTTI_ACCESS_RUNS ?? 10);
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

describe.skipIf(programs.state === 'missing')('a real kube-apiserver and the embedded plane', () => {
  let planes: readonly TestPlane[] = [];
  let played = 0;

  beforeAll(async () => {
    if (programs.state === 'missing') return;
    planes = [await openRealPlane({ paths: programs.paths }), await openEmbeddedPlane()];
    for (const { client } of planes) {
      await client.create('/api/v1/namespaces', { metadata: { name: 'other' } });
      await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
      await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'other' } });
    }
  });

  afterAll(async () => {
    for (const plane of planes) await plane.stop();
  });

  it('allow the same, whatever roles and bindings there are', async () => {
    await fc.assert(
      fc.asyncProperty(accessCases, fc.array(questions, { minLength: 30, maxLength: 60 }), async (access, asked) => {
        const suffix = `-${played++}`;
        const [theirs, ours] = await Promise.all(
          planes.map(async ({ client }) => {
            await install(client, access, suffix);
            return Promise.all(asked.map((question) => isAllowed(client, question, suffix)));
          }),
        );
        const shown = (answers: readonly boolean[]): object[] =>
          asked.map((question, index) => ({ ...question, allowed: answers[index] }));
        expect(shown(ours!)).toEqual(shown(theirs!));
      }),
      { numRuns: runs },
    );
  });

  it('know the same tokens, however they are bent', async () => {
    const tokens = await Promise.all(
      planes.map(async ({ client }) => [
        await tokenOf(client, 'default', 'robot'),
        await tokenOf(client, 'default', 'other'),
      ]),
    );
    await fc.assert(
      fc.asyncProperty(bends, async (bend) => {
        const [theirs, ours] = await Promise.all(
          planes.map((plane, index) => whoIs(plane, bent(bend, tokens[index]![0]!, tokens[index]![1]!))),
        );
        expect(ours).toEqual(theirs);
      }),
      { numRuns: runs * 30 },
    );
    const whole = await Promise.all(planes.map((plane, index) => whoIs(plane, tokens[index]![0]!)));
    expect(whole).toEqual(Array(2).fill('system:serviceaccount:default:robot'));
  });
});

/** Makes the roles and bindings of a case; resolves when they count. Their users have the suffix. */
async function install(client: KubeClient, { roles, bindings }: AccessCase, suffix: string): Promise<void> {
  const place = (kind: string, namespace: string | undefined): string =>
    namespace === undefined ? `${rbac}/${kind}` : `${rbac}/namespaces/${namespace}/${kind}`;
  const named = (name: string): object => ({ metadata: { name: `${name}${suffix}` } });
  const sentinels: AccessCase = {
    roles: [undefined, 'default'].map((namespace) => ({
      name: 'sentinel',
      namespace,
      rules: [{ apiGroups: ['sentinel'], resources: ['all'], verbs: ['get'] }],
    })),
    bindings: [undefined, 'default'].map((namespace, index) => ({
      name: 'sentinel',
      namespace,
      role: { kind: namespace === undefined ? 'ClusterRole' : 'Role', name: 'sentinel' },
      subjects: [{ kind: 'User', name: `sentinel-${index}` }],
    })),
  };
  for (const part of [{ roles, bindings }, sentinels]) {
    for (const { name, namespace, rules } of part.roles) {
      await client.create(place(namespace === undefined ? 'clusterroles' : 'roles', namespace), {
        ...named(name),
        rules,
      });
    }
    for (const { name, namespace, role, subjects } of part.bindings) {
      await client.create(place(namespace === undefined ? 'clusterrolebindings' : 'rolebindings', namespace), {
        ...named(name),
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name: `${role.name}${suffix}` },
        subjects: subjects.map((subject) => ({
          ...subject,
          name: subject.kind === 'ServiceAccount' ? subject.name : `${subject.name}${suffix}`,
        })),
      });
    }
  }
  // Each kind is read in its order: when what was made last counts, all does.
  for (const user of ['sentinel-0', 'sentinel-1']) {
    const question: Question = {
      user,
      groups: [],
      about: { verb: 'get', group: 'sentinel', resource: 'all', namespace: 'default' },
    };
    await poll(
      async () => ((await isAllowed(client, question, suffix)) ? undefined : `${user} may not yet`),
      'the roles count',
    );
  }
}

async function isAllowed(client: KubeClient, { user, groups, about }: Question, suffix: string): Promise<boolean> {
  const own = user.startsWith('system:') ? user : `${user}${suffix}`;
  const { status } = await client.create<{ status: { allowed: boolean } }>(reviews, {
    spec: {
      user: own,
      groups: groups.map((group) => `${group}${suffix}`),
      ...('path' in about ? { nonResourceAttributes: about } : { resourceAttributes: about }),
    },
  });
  return status.allowed;
}

/** Whose the token is, by a review. */
async function whoIs({ client }: TestPlane, token: string): Promise<string> {
  const review = { spec: { token } };
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  return client.create<{ status: { authenticated?: boolean; user?: { username?: string } } }>(path, review).then(
    ({ status }) => (status.authenticated === true ? (status.user?.username ?? '') : 'nobody'),
    (error: unknown) => (error as Error).name,
  );
}
