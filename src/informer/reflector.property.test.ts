import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MisbehavingServer } from '../../test/planes/misbehaving-server.ts';
import { ServedCollection } from '../../test/planes/served-collection.ts';
import type { CutKind, ServedObject } from '../../test/planes/served-collection.ts';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { fixedEndpoint } from '../client/endpoint.ts';
import { KubeClient } from '../client/kube-client.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import { Reflector } from './reflector.ts';
import { ObservedClient } from './testing/observed-client.ts';

let server: MisbehavingServer;
let transport: HttpTransport;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
});

afterEach(async () => {
  await transport.close();
  await server.close();
});

type Step =
  | { readonly do: 'put'; readonly name: string; readonly value: number }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'cut'; readonly kind: CutKind }
  | { readonly do: 'compact' | 'hold' | 'release' | 'settle' }
  | { readonly do: 'pass'; readonly turns: number };

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name, value: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('cut' as const),
      kind: fc.constantFrom<CutKind>('clean', 'reset', 'mid-line'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), turns: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'settle' } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('compact', 'hold', 'release') }) },
);

interface Projection {
  readonly name: string;
  readonly uid: string;
  readonly value: number;
}

function project(raw: unknown): Projection {
  const { metadata, value } = raw as ServedObject;
  return { name: metadata.name, uid: metadata.uid, value };
}

function sorted(objects: Iterable<Projection>): Projection[] {
  return [...objects].sort((a, b) => a.name.localeCompare(b.name));
}

/** Builds its own copy from the handler calls, and fails if a call does not match the earlier ones. */
class Mirror {
  readonly objects = new Map<string, Projection>();

  onAdd(object: Projection): void {
    expect(this.objects.has(object.name)).toBe(false);
    this.objects.set(object.name, object);
  }

  onUpdate(previous: Projection, object: Projection): void {
    expect(this.objects.get(object.name)).toBe(previous);
    expect(object.uid).toBe(previous.uid);
    this.objects.set(object.name, object);
  }

  onDelete(last: Projection): void {
    expect(this.objects.get(last.name)?.uid).toBe(last.uid);
    this.objects.delete(last.name);
  }
}

test("store and handler converge to the server's state despite broken, delayed and expired watches", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), fc.integer(), async (steps, seed) => {
      const collection = new ServedCollection();
      server.otherwise(collection.behaviour);
      const clock = new VirtualClock();
      const client = new ObservedClient(new KubeClient({ transport, clock }));
      const mirror = new Mirror();
      const problems: unknown[] = [];
      const reflector = new Reflector<Projection>({
        client,
        clock,
        random: seededRandom(seed),
        path: '/api/v1/things',
        pageSize: 2,
        project,
        handler: mirror,
        indexers: { value: (object) => [String(object.value)] },
        onProblem: (problem) => {
          if (problem.kind === 'handler' || problem.kind === 'malformed') problems.push(problem);
        },
      });
      const turn = async (): Promise<void> => {
        await new Promise((resolve) => setImmediate(resolve));
        // Without a request in flight the reflector waits out a backoff.
        if (client.inFlight === 0) clock.advance(clock.untilNextTimer() ?? 0);
      };
      const served = (): Projection[] => sorted([...collection.objects.values()].map(project));
      const isEqual = (): boolean =>
        reflector.hasSynced && JSON.stringify(sorted(reflector.store.values())) === JSON.stringify(served());
      reflector.start();
      for (const each of steps) {
        switch (each.do) {
          case 'put':
            collection.put(each.name, each.value);
            break;
          case 'delete':
            collection.delete(each.name);
            break;
          case 'cut':
            collection.endWatches(each.kind);
            break;
          case 'compact':
            collection.compact();
            break;
          case 'hold':
          case 'release':
            collection.isDelivering = each.do === 'release';
            break;
          case 'pass':
            for (let n = 0; n < each.turns; n++) await turn();
            break;
          case 'settle':
            // While the server holds back events, the states cannot become equal; then only some time passes.
            for (let n = 0; !isEqual() && n < 100; n++) await turn();
            break;
        }
      }
      collection.isDelivering = true;
      collection.endWatches('clean'); // the next watch delivers what was held back
      for (let turns = 0; !isEqual() && turns < 5_000; turns++) await turn();
      await reflector.stop();
      const expected = served();
      expect(sorted(reflector.store.values())).toEqual(expected);
      expect(sorted(mirror.objects.values())).toEqual(expected);
      expect(problems).toEqual([]);
      for (const value of [0, 1, 2, 3]) {
        const filed = sorted(reflector.store.byIndex('value', String(value)));
        expect(filed).toEqual(expected.filter((object) => object.value === value));
      }
    }),
    { numRuns: 150 },
  );
});
