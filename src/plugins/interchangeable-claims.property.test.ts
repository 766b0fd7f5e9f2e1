import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../base/testing/runs.ts';
import { StorageScheduling } from './testing/storage-scheduling.ts';

const hosts = ['a', 'b', 'c', 'd'] as const;
const driver = 'csi.example';

const cluster = fc.record({
  /** Volume limit of the driver per host; undefined: the host has no CSINode. */
  limits: fc.array(fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }), { minLength: 4, maxLength: 4 }),
  /** Sizes of the local volumes per host, in GiB. */
  locals: fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }), { minLength: 4, maxLength: 4 }),
  /** Published storage capacity per host, in GiB; undefined: the driver publishes none. */
  capacities: fc.option(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 4, maxLength: 4 }), { nil: undefined }),
  /** Hosts that run a pod with a volume of the driver. */
  running: fc.subarray([...hosts]),
});
const gang = fc.record({
  members: fc.integer({ min: 1, max: 6 }),
  storageClass: fc.constantFrom('wait', 'wait', 'manual'),
  size: fc.integer({ min: 1, max: 3 }),
  mode: fc.constantFrom('ReadWriteOnce', 'ReadWriteOncePod'),
  /** Number of claims per member. */
  claims: fc.integer({ min: 1, max: 2 }),
  /** All members use one more claim together. */
  shares: fc.boolean(),
  /** How the claim of one member differs from the others. */
  odd: fc.option(fc.constantFrom('bound', 'selected', 'reserved', 'deleted', 'shared', 'missing'), { nil: undefined }),
});
type World = typeof cluster extends fc.Arbitrary<infer T> ? T : never;
type GangShape = typeof gang extends fc.Arbitrary<infer T> ? T : never;

/** `areNamed`: another pod uses each claim, so that the claims are not interchangeable. */
function build(world: World, shape: GangShape, areNamed: boolean): StorageScheduling {
  const core = new StorageScheduling();
  core.hosts(...hosts);
  for (const [index, host] of hosts.entries()) {
    const count = world.limits[index];
    const drivers = count === undefined ? [] : [{ name: driver, nodeID: host, allocatable: { count } }];
    core.object('CSINode', { metadata: { name: host }, spec: { drivers } });
    for (const [number, size] of world.locals[index]!.entries()) {
      core.volume(`local-${host}-${number}`, { size: `${size}Gi`, node: host });
    }
    if (world.capacities === undefined) continue;
    core.object('CSIStorageCapacity', {
      metadata: { namespace: 'default', name: `capacity-${host}` },
      storageClassName: 'wait',
      nodeTopology: { matchLabels: { 'kubernetes.io/hostname': host } },
      capacity: `${world.capacities[index]}Gi`,
    });
  }
  if (world.capacities !== undefined) {
    core.object('CSIDriver', { metadata: { name: driver }, spec: { storageCapacity: true } });
  }
  for (const host of world.running) {
    const csi = { driver, volumeHandle: `old-${host}` };
    core.bind(`old-${host}`, `pv-old-${host}`, { storageClass: 'wait', csi });
    core.pod({ name: `old-${host}`, nodeName: host, spec: { volumes: volumesOf([`old-${host}`]) } });
  }
  const claims = Array.from({ length: shape.members }, (_, member) =>
    Array.from({ length: shape.claims }, (_each, number) => `data-${number}-${member}`),
  );
  for (const claim of claims.flat()) {
    core.claim(claim, { storageClass: shape.storageClass, size: `${shape.size}Gi`, modes: [shape.mode] });
  }
  core.claim('common', { storageClass: 'wait', modes: ['ReadWriteMany'] });
  makeOdd(core, shape);
  const all = shape.shares ? claims.map((own) => [...own, 'common']) : claims;
  core.gang('red', all, '100m');
  if (areNamed) {
    for (const claim of claims.flat()) {
      core.pod({ name: `user-${claim}`, schedulerName: 'other', spec: { volumes: volumesOf([claim]) } });
    }
  }
  return core;
}

function makeOdd(core: StorageScheduling, { odd, storageClass, size, mode }: GangShape): void {
  const fields = { storageClass, size: `${size}Gi`, modes: [mode] };
  const claim = 'data-0-0';
  switch (odd) {
    case 'bound':
      core.bind(claim, 'pv-odd', { ...fields, node: 'b', csi: { driver, volumeHandle: 'odd' } });
      break;
    case 'selected':
      core.claim(claim, { ...fields, selectedNode: 'c' });
      break;
    case 'reserved':
      core.volume('pv-odd', { ...fields, node: 'd', claim });
      break;
    case 'deleted':
      core.object('PersistentVolumeClaim', {
        metadata: { namespace: 'default', name: claim, uid: claim, deletionTimestamp: '2026-01-01T00:00:00Z' },
        spec: { storageClassName: storageClass, accessModes: [mode], resources: { requests: { storage: '1Gi' } } },
      });
      break;
    case 'shared':
      core.pod({ name: 'user', nodeName: 'a', spec: { volumes: volumesOf([claim]) } });
      break;
    case 'missing':
      core.removeObject('PersistentVolumeClaim', claim);
      break;
    case undefined:
      break;
  }
}

function volumesOf(claims: readonly string[]): readonly object[] {
  return claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
}

/** Checks the invariants of every plan, whichever claims are interchangeable. */
function expectSound(core: StorageScheduling, world: World, shape: GangShape): void {
  const { cluster: harness } = core.harness;
  const members = [...harness.gang('default/red')!.members.values()];
  const nodeOf = new Map(members.map((pod) => [pod.name, harness.nodeOf(pod)!.name]));
  const written = core.written.map((text) => text.split(/ (?:for|on) /) as [string, string]);
  const volumes = core.written.filter((text) => text.includes(' for ')).map((text) => text.split(' for ')[0]!);
  expect(new Set(volumes).size, 'each volume has one claim').toBe(volumes.length);
  for (const [object, target] of written) {
    if (!object.startsWith('local-')) continue;
    const member = `red-${target.split('-').at(-1)}`;
    expect(object.split('-')[1], `${object} is on the node of its member`).toBe(nodeOf.get(member));
  }
  const isMade = shape.storageClass === 'wait';
  for (const [index, host] of hosts.entries()) {
    const limit = world.limits[index];
    if (limit === undefined || !isMade) continue;
    const here = [...nodeOf.values()].filter((node) => node === host).length;
    const before = world.running.includes(host) ? 1 : 0;
    // The shared claim and the odd member's volume may already be counted.
    if (here > 0) expect(here * shape.claims + before, `${host} exceeds its limit`).toBeLessThanOrEqual(limit);
  }
}

it('gives pods with interchangeable claims the same result as evaluating each pod separately', async () => {
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(cluster, gang, async (world, shape) => {
      const shared = build(world, shape, false);
      const each = build(world, shape, true);
      const [outcome, expected] = [await shared.attempt(), await each.attempt()];
      // The node of the shared claim depends on which member comes first and on the order of equal nodes.
      if (!shape.shares) expect(outcome).toBe(expected);
      outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1);
      if (outcome !== 'planned') return;
      await shared.settle();
      await each.settle();
      if (expected === 'planned') expect(shared.written.length).toBe(each.written.length);
      if (shape.odd === undefined) expectSound(shared, world, shape);
    }),
    { numRuns: 250 },
  );
  expect(outcomes.get('planned')).toBeGreaterThan(runs(20));
  expect(outcomes.get('rejected')).toBeGreaterThan(runs(20));
});
