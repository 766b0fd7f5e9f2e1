import { afterEach, beforeEach, expect, it } from 'vitest';
import { nativePodGroupPath } from '../api/native-pod-group.ts';
import type { NativePodGroup, NativeVersion } from '../api/native-pod-group.ts';
import { seededRandom } from '../base/random.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ForbiddenError, NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { Builders } from '../testkit/builders/builders.ts';
import { RecordingLogger } from '../testkit/recording-logger.ts';
import { NativePodGroupReflector } from './native-pod-group-reflector.ts';

/** An API server that serves PodGroups in one version, or not at all. */
class Server implements Pick<KubeClient, 'get' | 'list' | 'watch'> {
  /** Every version of `scheduling.k8s.io` in discovery; v1 has no PodGroups. */
  versions: readonly string[] = ['v1'];
  groups: readonly object[] = [];
  isForbidden = false;
  resourceVersion = 100;
  readonly requests: string[] = [];
  #endWatch: () => void = () => undefined;

  serve(...versions: readonly string[]): void {
    this.versions = versions;
    this.resourceVersion++;
    this.#endWatch();
  }

  get<T>(path: string): Promise<T> {
    this.requests.push(path);
    const version = path.split('/')[3];
    if (version === undefined) return this.#answer<T>({ versions: this.versions.map((name) => ({ version: name })) });
    const hasGroups = this.versions.includes(version) && version.length > 2 && version !== 'v1alpha1';
    return this.#answer<T>({ resources: [{ name: hasGroups ? 'podgroups' : 'priorityclasses' }] });
  }

  list(path: string): ReturnType<KubeClient['list']> {
    this.requests.push(path);
    if (this.isForbidden) return Promise.reject(new ForbiddenError('may not list', this.#details(path, 403)));
    const isServed = this.versions.some((version) => path === nativePodGroupPath(version as NativeVersion));
    if (!isServed)
      return Promise.reject(new NotFoundError('the server has no such resource', this.#details(path, 404)));
    return this.#answer({ items: this.groups, resourceVersion: String(this.resourceVersion) });
  }

  watch(path: string): ReturnType<KubeClient['watch']> {
    this.requests.push(`watch ${path}`);
    const isServed = this.versions.some((version) => path === nativePodGroupPath(version as NativeVersion));
    if (!isServed)
      return Promise.reject(new NotFoundError('the server has no such resource', this.#details(path, 404)));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endWatch = resolve;
    return this.#answer(untilResolved(promise));
  }

  #answer<T>(answer: unknown): Promise<T> {
    return Promise.resolve(answer as T);
  }

  #details(request: string, status: number): ConstructorParameters<typeof NotFoundError>[1] {
    return { status, reason: 'NotFound', request, causes: [] };
  }
}

async function* untilResolved(end: Promise<void>): AsyncIterable<Uint8Array> {
  await end;
  yield* [];
}

const build = new Builders();
let clock: VirtualClock;
let server: Server;
let logger: RecordingLogger;
let changes: string[];
let reflector: NativePodGroupReflector<NativePodGroup>;

beforeEach(() => {
  clock = new VirtualClock();
  server = new Server();
  server.groups = [build.nativePodGroup({ name: 'red', minCount: 2 })];
  logger = new RecordingLogger();
  changes = [];
  reflector = new NativePodGroupReflector({
    client: server,
    clock,
    random: seededRandom(1),
    logger,
    project: (group) => group,
    handler: {
      onAdd: ({ key }) => void changes.push(`add ${key}`),
      onUpdate: (_previous, { key }) => void changes.push(`update ${key}`),
      onDelete: ({ key }) => void changes.push(`delete ${key}`),
    },
    onServed: (isServed) => void changes.push(isServed ? 'served' : 'not served'),
  });
});

afterEach(async () => {
  server.serve();
  await reflector.stop();
});

/** Runs everything that happens within this time. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds * 1_000; left >= 0; left -= 500) {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(500);
  }
}

const lines = (): string[] => logger.lines.map(({ level, message }) => `${level} ${message}`);

it.each(['v1beta1', 'v1alpha3', 'v1alpha2'] as const)('lists the groups of a server with %s', async (version) => {
  server.serve('v1', version);
  reflector.start();
  await pass(10);
  await reflector.synced();
  expect(reflector.version).toBe(version);
  expect(changes).toEqual(['add scheduling.k8s.io/default/red']);
  expect(lines()).toEqual(['info the API server serves PodGroups of scheduling.k8s.io']);
});

it('prefers v1beta1', async () => {
  server.serve('v1', 'v1alpha3', 'v1beta1');
  reflector.start();
  await pass(1);
  expect(reflector.version).toBe('v1beta1');
});

it('syncs without the API, and picks it up when it appears', async () => {
  reflector.start();
  await pass(600);
  await reflector.synced();
  expect(reflector.hasSynced).toBe(true);
  expect(lines()).toHaveLength(1);
  expect(server.requests.length).toBeLessThan(100);
  server.serve('v1', 'v1alpha3');
  await pass(60);
  expect(reflector.version).toBe('v1alpha3');
  expect(changes).toEqual(['add scheduling.k8s.io/default/red', 'served']);
  expect(lines()).toHaveLength(2);
});

it('keeps its groups when the API disappears, and reports the absence once', async () => {
  server.serve('v1', 'v1beta1');
  reflector.start();
  await pass(20);
  server.serve('v1');
  await pass(600);
  expect(changes).toEqual(['add scheduling.k8s.io/default/red', 'not served']);
  expect([...reflector.store.values()]).toHaveLength(1);
  expect(lines().slice(1)).toEqual([
    'warn no PodGroups of scheduling.k8s.io: Tutti schedules pods with spec.schedulingGroup once the API server serves them',
  ]);
  server.groups = [];
  server.serve('v1', 'v1beta1');
  await pass(60);
  expect(changes.slice(2)).toEqual(['delete scheduling.k8s.io/default/red', 'served']);
});

it('reports that the API is back although its watch could resume', async () => {
  server.serve('v1', 'v1beta1');
  reflector.start();
  await pass(20);
  server.serve('v1');
  await pass(2);
  server.serve('v1', 'v1beta1');
  await pass(60);
  expect(changes).toEqual(['add scheduling.k8s.io/default/red', 'not served', 'served']);
  expect(reflector.version).toBe('v1beta1');
});

it('follows the server to another version without a loss', async () => {
  server.serve('v1', 'v1beta1');
  reflector.start();
  await pass(20);
  server.serve('v1', 'v1alpha3');
  await pass(60);
  expect(reflector.version).toBe('v1alpha3');
  expect(changes).toEqual(['add scheduling.k8s.io/default/red']);
  expect(lines()).toHaveLength(2);
});

it('says which Kubernetes it needs on a server with v1alpha1', async () => {
  server.serve('v1', 'v1alpha1');
  reflector.start();
  await pass(60);
  expect(lines()).toEqual(['info no PodGroups of scheduling.k8s.io: Tutti needs Kubernetes 1.36 or later for them']);
});

it('treats a missing permission like an absent API, and says so', async () => {
  server.serve('v1', 'v1beta1');
  server.isForbidden = true;
  reflector.start();
  await pass(60);
  await reflector.synced();
  expect(lines()).toEqual(['info no PodGroups of scheduling.k8s.io: Tutti may not read them: grant list and watch']);
  server.isForbidden = false;
  await pass(60);
  expect(reflector.version).toBe('v1beta1');
});

it('skips a malformed group', async () => {
  server.serve('v1', 'v1beta1');
  server.groups = [{ ...build.nativePodGroup({ name: 'bad' }), spec: {} }, build.nativePodGroup({ name: 'good' })];
  reflector.start();
  await pass(1);
  expect(changes).toEqual(['add scheduling.k8s.io/default/good']);
  expect(lines()[0]).toBe('warn skipped a malformed object');
});
