import type { Explanation, Remedy } from '../../api/explain/explanation.ts';
import { seededRandom } from '../../base/random.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { ExplanationPart } from '../explain/explainer.ts';

/** What was drawn: a cluster with running pods, and a group that waits. */
interface Draw {
  readonly nodes: readonly NodeOptions[];
  readonly running: readonly PodOptions[];
  readonly members: readonly PodOptions[];
  readonly minMember: number;
}

/** A cluster drawn from a seed, in which one group, `gang`, is tried once. */
export class ExplainedCluster {
  readonly scheduling: Scheduling;
  readonly draw: Draw;

  constructor(draw: Draw) {
    this.draw = draw;
    this.scheduling = new Scheduling({ plugins: defaultPlugins });
    const { scheduling } = this;
    for (const node of draw.nodes) scheduling.node(node);
    for (const pod of draw.running) scheduling.pod(pod);
    scheduling.group({ name: 'gang', minMember: draw.minMember });
    for (const pod of draw.members) scheduling.pod(pod);
  }

  static of(seed: number): ExplainedCluster {
    return new ExplainedCluster(drawCluster(seed));
  }

  /** Makes attempts until none is due. Returns whether the group has started. */
  async run(): Promise<boolean> {
    const { scheduling } = this;
    while ((await scheduling.attempt()) !== undefined);
    return scheduling.binds.filter(({ binding }) => binding.name.startsWith('gang-')).length >= this.draw.minMember;
  }

  explain(): ExplanationPart {
    return this.scheduling.harness.core.explainNow({ namespace: 'default', name: 'gang' })!;
  }

  /** The same cluster after this change. */
  after(remedy: Remedy): ExplainedCluster {
    const { nodes, running, members, minMember } = this.draw;
    switch (remedy.kind) {
      case 'podsEnd': {
        const gone = new Set(remedy.pods.map(({ name }) => name));
        return new ExplainedCluster({ ...this.draw, running: running.filter(({ name }) => !gone.has(name!)) });
      }
      case 'uncordon': {
        const open = (node: NodeOptions): NodeOptions =>
          remedy.nodes.includes(node.name!) ? { ...node, unschedulable: false } : node;
        return new ExplainedCluster({ ...this.draw, nodes: nodes.map(open) });
      }
      case 'addNodes': {
        const like = nodes.find(({ name }) => name === remedy.like)!;
        const more = Array.from({ length: remedy.count }, (_, i) => ({
          ...like,
          name: `more-${i}`,
          unschedulable: false,
          labels: { ...like.labels, 'kubernetes.io/hostname': `more-${i}` },
        }));
        return new ExplainedCluster({ ...this.draw, nodes: [...nodes, ...more] });
      }
      case 'lowerMinMember':
        return new ExplainedCluster({ ...this.draw, minMember: Math.min(remedy.to, minMember) });
      case 'raisePriority':
        return new ExplainedCluster({
          ...this.draw,
          members: members.map((member) => ({ ...member, priority: remedy.above + 1 })),
        });
    }
  }

  /** Lets victims of preemption terminate, time after time. */
  async afterEvictions(): Promise<boolean> {
    for (let round = 0; round < 5; round++) {
      if (await this.run()) return true;
      for (const name of this.scheduling.harness.evicted)
        if (this.scheduling.has(name)) this.scheduling.removePod(name);
      this.scheduling.harness.clock.advance(20_000);
    }
    return this.run();
  }

  get nodeCount(): number {
    return this.draw.nodes.length;
  }
}

/** Composes the sentence of a diagnosis from the rows of the funnel. */
export function sentenceOf({ blocker }: Pick<Explanation, 'blocker'>): string {
  const reasons = new Map<string, number>();
  for (const { rejections, removed } of blocker!.funnel)
    for (const { message } of rejections) reasons.set(message, (reasons.get(message) ?? 0) + removed);
  const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${blocker!.nodes} nodes are available: ${texts.join(', ')}.`;
}

function drawCluster(seed: number): Draw {
  const random = seededRandom(seed);
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const pick = <T>(of: readonly T[]): T => of[int(0, of.length - 1)]!;
  const chance = (p: number): boolean => random() < p;
  const nodes = Array.from({ length: int(1, 7) }, (_, i): NodeOptions => {
    return {
      name: `n${i}`,
      cpu: pick([1, 2, 4, 8]),
      memory: pick(['2Gi', '8Gi']),
      pods: chance(0.1) ? 1 : 20,
      labels: {
        zone: pick(['a', 'b']),
        ...(chance(0.7) && { pool: pick(['x', 'y']) }),
        'kubernetes.io/hostname': `n${i}`,
      },
      ...(chance(0.3) && { allocatable: { 'nvidia.com/gpu': int(1, 4) } }),
      ...(chance(0.15) && { taints: [`${pick(['dedicated', 'gpu'])}=yes:NoSchedule`] }),
      ...(chance(0.2) && { unschedulable: true }),
    };
  });
  const running = Array.from({ length: int(0, 10) }, (_, i): PodOptions => {
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
      job: `job-${i}`,
    };
  });
  const kinds = Array.from({ length: int(1, 3) }, (): Partial<PodOptions> => drawKind(chance, pick));
  const size = int(1, 6);
  const members = Array.from({ length: size }, (_, i): PodOptions => {
    return { ...pick(kinds), name: `gang-${i}`, group: 'gang', labels: { app: 'gang' } };
  });
  return { nodes, running, members, minMember: int(1, size) };
}

function drawKind(chance: (p: number) => boolean, pick: <T>(of: readonly T[]) => T): Partial<PodOptions> {
  const apart = (topologyKey: string): NonNullable<PodOptions['spec']> => ({
    affinity: {
      [pick(['podAntiAffinity', 'podAntiAffinity', 'podAffinity'])]: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey, labelSelector: { matchLabels: { app: pick(['gang', 'gang', 'web', 'db']) } } },
        ],
      },
    },
  });
  const spread = (): NonNullable<PodOptions['spec']> => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: pick(['zone', 'kubernetes.io/hostname', 'rack']),
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'gang' } },
      },
    ],
  });
  return {
    cpu: pick([0.5, 1, 2, 4]),
    memory: pick(['1Gi', '4Gi']),
    ...(chance(0.25) && { requests: { 'nvidia.com/gpu': pick([1, 2]) } }),
    ...(chance(0.25) && { nodeSelector: { pool: pick(['x', 'y', 'none']) } }),
    ...(chance(0.15) && { hostPorts: [8080] }),
    ...(chance(0.1) && { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }),
    ...(chance(0.35) && { spec: apart(pick(['zone', 'kubernetes.io/hostname'])) }),
    ...(chance(0.15) && { spec: spread() }),
  };
}
