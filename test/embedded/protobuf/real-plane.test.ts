import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBytes } from '../../../src/client/read-text.ts';
import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import { builtInKinds } from '../../../src/plane/apiserver/kinds/built-in-kinds.ts';
import { apiVersionOf } from '../../../src/plane/apiserver/kinds/resource-type.ts';
import { decodeProtobuf } from '../../../src/plane/apiserver/protobuf/index.ts';
import { normalizeModel } from '../../../src/plane/apiserver/verbs/normalize-model.ts';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../../planes/real/real-plane.ts';
import type { RealPlane } from '../../planes/real/real-plane.ts';
import { appliedKinds } from '../apply/applied-kinds.ts';

const programs = await provideForSuite('that its protobuf is understood', ['etcd', 'kube-apiserver']);
const runs = Number(process.env.TUTTI_PROTOBUF_RUNS ?? 15);

describe.skipIf(programs.state === 'missing')('protobuf as a real kube-apiserver writes it', () => {
  let plane: RealPlane;
  let made = 0;

  beforeAll(async () => {
    if (programs.state === 'ready') plane = await openRealPlane({ paths: programs.paths });
  });

  afterAll(async () => {
    await plane?.stop();
  });

  it.each(appliedKinds.filter(({ isCustom }) => isCustom !== true))(
    'says of $name what its JSON says',
    async ({ path, base, content }) => {
      const collection = path('default');
      const { content: known } = builtInKinds.find(
        (type) => type.kind === base.kind && apiVersionOf(type) === base.apiVersion,
      )!;
      let compared = 0;
      const model = known.type === 'model' ? known.model : '';
      await fc.assert(
        fc.asyncProperty(content, async (given) => {
          const name = `object-${made++}`;
          const metadata = { ...(given.metadata as JsonObject | undefined), name };
          const created = await plane.client
            .create<JsonObject>(collection, { ...base, ...given, metadata })
            .catch(() => undefined); // not everything that is made up is right
          if (created === undefined) return;
          const headers = { accept: 'application/vnd.kubernetes.protobuf' };
          const answer = await plane.transport.send({ method: 'GET', path: `${collection}/${name}`, headers });
          const decoded = decodeProtobuf(await readBytes(answer.body));
          expect(normalizeModel(decoded, model)).toEqual(normalizeModel(created, model));
          compared++;
        }),
        { numRuns: runs },
      );
      expect(compared).toBeGreaterThan(0);
    },
  );
});
