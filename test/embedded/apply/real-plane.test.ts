import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.ts';
import { EmbeddedApiServer } from '../../../src/plane/apiserver/embedded-api-server.ts';
import { InProcessTransport } from '../../../src/plane/apiserver/in-process-transport.ts';
import { KubeClient } from '../../../src/client/kube-client.ts';
import { poll } from '../../planes/poll.ts';
import { provideForSuite } from '../../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../../planes/real/real-plane.ts';
import type { RealPlane } from '../../planes/real/real-plane.ts';
import { appliedKinds } from './applied-kinds.ts';
import { stepsOf } from './apply-steps.ts';
import { gadgetDefinition } from './gadget-definition.ts';
import { playSteps } from './play-steps.ts';

const programs = await provideForSuite('that it applies as the embedded plane does', ['etcd', 'kube-apiserver']);
const namespace = 'default';
const runs = Number(process.env.TUTTI_APPLY_RUNS ?? 40);
/** Of a failure to be seen again; each run has a new one, which a failure prints. */
const seed = process.env.TUTTI_APPLY_SEED;

describe.skipIf(programs.state === 'missing')(
  'the same writes on a real kube-apiserver and on the embedded plane',
  () => {
    let real: RealPlane;
    let server: EmbeddedApiServer;
    let embedded: InProcessTransport;
    let played = 0;

    beforeAll(async () => {
      if (programs.state === 'missing') return;
      real = await openRealPlane({ paths: programs.paths });
      server = new EmbeddedApiServer({ clock: systemClock, random: Math.random });
      embedded = new InProcessTransport(server);
      for (const transport of [real.transport, embedded]) {
        const client = new KubeClient({ transport, clock: systemClock, userAgent: 'tutti-tests' });
        await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', gadgetDefinition);
        await poll(
          () => client.list(appliedKinds.at(-1)!.path(namespace)).then(() => undefined, String),
          'gadgets are served',
        );
      }
    });

    afterAll(async () => {
      await real?.stop();
      server?.close();
    });

    it.each(appliedKinds)('make the same object with the same owners: $name', async (kind) => {
      await fc.assert(
        fc.asyncProperty(stepsOf(kind), async (steps) => {
          const name = `object-${played++}`;
          const [theirs, ours] = await Promise.all(
            [real.transport, embedded].map((transport) => playSteps(transport, namespace, kind, name, steps)),
          );
          expect(ours).toEqual(theirs);
        }),
        { numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) },
      );
    });
  },
);
