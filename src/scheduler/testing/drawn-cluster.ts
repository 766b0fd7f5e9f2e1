import type { ProfileConfiguration } from '../../config/scheduler-configuration.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Draws } from './draws.ts';
import { drawKind } from './drawn-kind.ts';
import { drawProfiles } from './drawn-profiles.ts';
import { drawStorage, noStorage } from './drawn-storage.ts';
import type { DrawnStorage } from './drawn-storage.ts';
import { otherPluginNames } from './other-plugins.ts';

/**
 * What happens before the group is tried.
 * - `nomination`: a pod of a higher priority preempts, and its victims still run. `repair`: another group has lost a member.
 * - `turn`: capacity is reserved for a group that comes first, until its predicted start.
 * - `binding`: members could not be bound to a node, which is full meanwhile, and then free again. `admission`: a node did not admit a pod like
 *   a member.
 * - `extender`: an extender rejects nodes.
 */
export type Before = 'nothing' | 'nomination' | 'repair' | 'turn' | 'binding' | 'admission' | 'extender';

/** A cluster with running pods, and a group that waits: `gang`. */
export interface DrawnCluster {
  readonly seed: number;
  readonly nodes: readonly NodeOptions[];
  readonly running: readonly PodOptions[];
  readonly members: readonly PodOptions[];
  readonly minMember: number;
  readonly minResources: Readonly<Record<string, string>> | undefined;
  readonly storage: DrawnStorage;
  readonly profiles: readonly ProfileConfiguration[];
  readonly before: Before;
}

const befores: readonly Before[] = [
  ...Array.from({ length: 8 }, () => 'nothing' as const),
  ...(['nomination', 'repair', 'turn', 'binding', 'admission', 'extender'] as const),
  ...(['nomination', 'binding', 'binding', 'admission', 'extender', 'extender'] as const),
];

const reservations = { reserveAfterMs: 1_000, drainAfterMs: 2_000, overrunPenaltyMs: 60_000 };

export function drawCluster(seed: number): DrawnCluster {
  const draws = new Draws(seed);
  const { int, pick, chance } = bound(draws);
  const before = pick(befores);
  const isRoomy = ['extender', 'nomination', 'binding', 'admission'].includes(before);
  const others = chance(0.4) ? [pick(otherPluginNames)] : [];
  const nodes = draws.list(int(1, 7), (i): NodeOptions => {
    const zone = pick(['a', 'b']);
    return {
      name: `n${i}`,
      cpu: pick(isRoomy ? [8, 16] : [1, 2, 4, 8]),
      memory: pick(isRoomy ? ['16Gi', '32Gi'] : ['2Gi', '8Gi']),
      pods: chance(0.1) ? 1 : 20,
      labels: {
        zone,
        'topology.kubernetes.io/zone': zone,
        ...(chance(0.7) && { pool: pick(['x', 'y']) }),
        'kubernetes.io/hostname': `n${i}`,
      },
      ...(chance(0.3) && { allocatable: { 'nvidia.com/gpu': int(1, 4) } }),
      ...(chance(0.15) && { taints: [`${pick(['dedicated', 'gpu'])}=yes:NoSchedule`] }),
      ...(chance(0.2) && { unschedulable: true }),
      ...(chance(0.5) && { declaredFeatures: ['UserNamespacesHostNetworkSupport'] }),
    };
  });
  const storage = chance(0.2)
    ? drawStorage(
        draws,
        nodes.map(({ name }) => name!),
      )
    : noStorage;
  const profiles = drawProfiles(draws, others, before === 'turn' ? reservations : undefined);
  const { schedulerName } = pick(profiles);
  const running = draws.list(int(0, 10), (i): PodOptions => {
    return {
      name: `run-${i}`,
      nodeName: pick(nodes).name!,
      cpu: pick([0.5, 1, 2]),
      memory: pick(['1Gi', '3Gi']),
      priority: pick([-10, 0, 0, 5]),
      labels: { app: pick(['web', 'db']) },
      ...(chance(0.2) && { hostPorts: [8080] }),
      ...(chance(0.3) && { requests: { 'nvidia.com/gpu': 1 } }),
      ...(chance(0.4) && { activeDeadlineSeconds: int(60, 6000) }),
      ...runningSpec(draws, storage),
      job: `job-${i}`,
    };
  });
  const kinds = draws.list(int(1, 3), () => drawKind(draws, storage, others));
  const size = int(1, 6);
  const priority = before === 'binding' ? 10 : 0;
  const members = draws.list(size, (i): PodOptions => {
    const kind = pick(kinds);
    return {
      ...kind,
      ...{ name: `gang-${i}`, group: 'gang', labels: { app: 'gang', ...kind.labels }, schedulerName, priority },
      ...(i > 0 && chance(0.04) && { gates: ['example.com/later'] }),
      ...(i > 0 && before !== 'binding' && chance(0.04) && { nodeName: pick(nodes).name! }),
    };
  });
  const minResources = chance(0.1) ? { cpu: String(int(1, 24)), memory: `${int(1, 24)}Gi` } : undefined;
  return { seed, nodes, running, members, minMember: int(1, size), minResources, storage, profiles, before };
}

function runningSpec(draws: Draws, { claims }: DrawnStorage): Pick<PodOptions, 'spec'> {
  if (claims.length === 0 || !draws.chance(0.4)) return {};
  const bound = claims.filter((name) => /disk|single/.test(name));
  return { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: draws.pick(bound) } }] } };
}

function bound(draws: Draws): Pick<Draws, 'int' | 'pick' | 'chance'> {
  return {
    int: (from, to) => draws.int(from, to),
    pick: (of) => draws.pick(of),
    chance: (p) => draws.chance(p),
  };
}
