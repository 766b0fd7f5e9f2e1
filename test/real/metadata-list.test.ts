import { beforeAll, describe, expect, it } from 'vitest';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { metadataListAccept } from '../../src/client/metadata-list.ts';
import { readText } from '../../src/client/read-text.ts';
import { planeForSuite } from '../planes/real/plane-for-suite.ts';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';

const programs = await provideForSuite('lists of metadata', ['etcd', 'kube-apiserver']);

interface Item {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Fields that every response must have for an object. */
const identityOf = ({ metadata: { name, namespace, uid, resourceVersion } }: Item): object => ({
  name,
  ...(namespace !== undefined && { namespace }),
  uid,
  resourceVersion,
});

const protobuf = 'application/vnd.kubernetes.protobuf';

describe.skipIf(programs.state === 'missing')('Metadata-only lists of a real API server', () => {
  const plane = planeForSuite(programs);

  beforeAll(async () => {
    for (const name of ['a', 'b', 'c']) {
      await plane().client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      await plane().client.create('/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { containers: [{ name: 'main', image: 'main:1' }] },
      });
      await plane().client.create(podGroupPath('default'), {
        apiVersion: 'scheduling.x-k8s.io/v1alpha1',
        kind: 'PodGroup',
        metadata: { name },
        spec: { minMember: 1 },
      });
    }
  });

  it.each(['/api/v1/nodes', '/api/v1/pods', podGroupPath()])(
    'identify the objects of %s, page by page',
    async (path) => {
      const { items: whole } = await plane().client.list(path);
      const found: object[] = [];
      let continueToken: string | undefined;
      do {
        const page = await plane().client.list(path, {
          metadataOnly: true,
          limit: 2,
          ...(continueToken && { continueToken }),
        });
        expect(page.items.length).toBeLessThanOrEqual(2);
        expect(page.resourceVersion).toMatch(/^\d+$/);
        found.push(...(page.items as Item[]).map(identityOf));
        ({ continueToken } = page);
      } while (continueToken !== undefined);
      const headers = { accept: metadataListAccept };
      const answer = await plane().transport.send({ method: 'GET', path, headers });
      await readText(answer.body);
      expect(answer.headers['content-type']).toMatch(protobuf);
      expect(found).toHaveLength(3);
      expect(found).toEqual((whole as Item[]).map(identityOf));
    },
  );
});
