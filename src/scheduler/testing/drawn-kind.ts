import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { Draws } from './draws.ts';
import { withClaim } from './drawn-storage.ts';
import type { DrawnStorage } from './drawn-storage.ts';

/** Draws what some members have in common. */
export function drawKind(draws: Draws, { claims }: DrawnStorage, others: readonly string[]): Partial<PodOptions> {
  const chance = (p: number): boolean => draws.chance(p);
  const specs: NonNullable<PodOptions['spec']>[] = [];
  if (chance(0.5)) specs.push({ affinity: drawAffinity(draws) });
  if (chance(0.15)) specs.push({ topologySpreadConstraints: [drawSpread(draws)] });
  if (claims.length > 0 && chance(0.7)) specs.push(withClaim(draws.pick(claims)));
  if (chance(0.08)) specs.push({ hostNetwork: true, hostUsers: false });
  return {
    cpu: draws.pick([0.5, 1, 2, 4]),
    memory: draws.pick(['1Gi', '4Gi']),
    ...(chance(0.25) && { requests: { 'nvidia.com/gpu': draws.pick([1, 2]) } }),
    ...(chance(0.25) && { nodeSelector: { pool: draws.pick(['x', 'y', 'none']) } }),
    ...(chance(0.15) && { hostPorts: [8080] }),
    ...(chance(0.1) && { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }),
    ...(specs.length > 0 && { spec: Object.assign({}, ...specs) as NonNullable<PodOptions['spec']> }),
    ...(others.length > 0 && chance(0.7) && { labels: { odd: draws.pick(others) } }),
  };
}

function drawAffinity(draws: Draws): NonNullable<NonNullable<PodOptions['spec']>['affinity']> {
  const app = draws.pick(['gang', 'gang', 'web', 'db']);
  const topologyKey = draws.pick(['zone', 'kubernetes.io/hostname']);
  const terms = [{ topologyKey, labelSelector: { matchLabels: { app } } }];
  const rule = { requiredDuringSchedulingIgnoredDuringExecution: terms };
  return draws.chance(0.55) ? { podAntiAffinity: rule } : { podAffinity: rule };
}

function drawSpread(draws: Draws): NonNullable<NonNullable<PodOptions['spec']>['topologySpreadConstraints']>[number] {
  return {
    maxSkew: 1,
    topologyKey: draws.pick(['zone', 'kubernetes.io/hostname', 'rack']),
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'gang' } },
  };
}
