import { expect, it } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import { runs } from '../../base/testing/runs.ts';
import type { NativePodGroupOptions } from '../../testkit/builders/native-pod-group.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

const names = ['a', 'b'];
const nodeNames = ['n', 'm'];

/** What the API has. */
class Objects {
  readonly pods = new Map<string, PodOptions>();
  readonly groups = new Map<string, PodGroupOptions>();
  readonly natives = new Map<string, NativePodGroupOptions>();
  readonly nodes = new Map<string, NodeOptions>();

  /** A scheduler that has just started, after its initial lists. */
  restarted(): Queueing {
    const core = new Queueing({ plugins: withoutPreemption }, 'listing');
    for (const node of this.nodes.values()) core.node(node);
    for (const group of this.groups.values()) core.group(group);
    for (const native of this.natives.values()) core.nativeGroup(native);
    for (const pod of this.pods.values()) core.pod(pod);
    core.start();
    return core;
  }

  /** group key -> uid -> kind of misfit, from the objects alone */
  misfits(): Map<string, Map<string, string>> {
    const found = new Map<string, Map<string, string>>();
    for (const [name, pod] of this.pods) {
      const label = pod.group ?? pod.groupAnnotation;
      const native = pod.schedulingGroup;
      const isOver = pod.phase === 'Failed' || pod.phase === 'Succeeded' || pod.deleting === true;
      if (isOver || (label === undefined && native === undefined)) continue;
      const key = label === undefined ? `scheduling.k8s.io/default/${native}` : `default/${label}`;
      const group = native === undefined ? undefined : this.natives.get(native);
      let kind: string | undefined;
      if (label !== undefined) kind = group?.minCount !== undefined ? 'otherGang' : undefined;
      else if (group !== undefined && (pod.priority ?? 0) !== (group.priority ?? 0)) kind = 'priority';
      if (kind === undefined) continue;
      found.set(key, (found.get(key) ?? new Map<string, string>()).set(name, kind));
    }
    return found;
  }
}

/** entity -> its state, without those of some groups */
function describe(core: Queueing, skipped: ReadonlySet<string>): Record<string, string> {
  const all = [...core.queue.entities()].filter(({ schedulingEntity }) => {
    const group = schedulingEntity.kind === 'gang' ? schedulingEntity.gang.key : schedulingEntity.pod.podGroupKey;
    return !skipped.has(group ?? '');
  });
  return Object.fromEntries(
    all.map(({ key, state }) => [key, state.kind === 'gated' ? `gated: ${state.status.message}` : state.kind]),
  );
}

it('the queue and the groups of both APIs are those of a scheduler that has just started, after every change', () => {
  let compared = 0;
  let different = 0;
  for (let seed = 1; seed <= runs(100); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(among: readonly T[]): T => among[Math.floor(random() * among.length)]!;
    const maybe = (chance: number): boolean => random() < chance;
    const objects = new Objects();
    const core = new Queueing({ plugins: withoutPreemption });
    for (const name of nodeNames) {
      objects.nodes.set(name, { name });
      core.node({ name });
    }
    let serial = 0;
    const log: string[] = [];
    const setPod = (name: string, options: PodOptions): void => {
      const all = Object.fromEntries(
        Object.entries({ ...options, name, uid: name }).filter(([, v]) => v !== undefined),
      );
      objects.pods.set(name, all);
      core.pod(all);
      log.push(JSON.stringify(all));
    };
    for (let step = 0; step < 60; step++) {
      const known = [...objects.pods.keys()];
      const name = known.length > 0 && maybe(0.85) ? pick(known) : undefined;
      const pod = name === undefined ? undefined : objects.pods.get(name)!;
      switch (Math.floor(random() * 14)) {
        case 0:
        case 1:
        case 2:
          setPod(`p${serial++}`, {
            createdAt: serial * 1000,
            group: maybe(0.4) ? pick(names) : undefined,
            groupAnnotation: maybe(0.1) ? pick(names) : undefined,
            schedulingGroup: maybe(0.7) ? pick(names) : undefined,
            priority: maybe(0.15) ? 7 : 0,
            schedulerName: maybe(0.1) ? 'other' : 'default-scheduler',
            gates: maybe(0.15) ? ['quota'] : undefined,
            nodeName: maybe(0.2) && objects.nodes.size > 0 ? pick([...objects.nodes.keys()]) : undefined,
          });
          break;
        case 3:
          if (pod) setPod(name!, { ...pod, group: maybe(0.4) ? undefined : pick(names) });
          break;
        case 4:
          if (pod) setPod(name!, { ...pod, groupAnnotation: maybe(0.4) ? undefined : pick(names) });
          break;
        case 5:
          if (pod) setPod(name!, { ...pod, gates: undefined });
          break;
        case 6:
          if (
            pod &&
            pod.nodeName === undefined &&
            pod.gates === undefined &&
            pod.phase === undefined &&
            objects.nodes.size > 0
          )
            setPod(name!, { ...pod, nodeName: pick([...objects.nodes.keys()]), phase: 'Running' });
          break;
        case 7:
          if (pod) setPod(name!, { ...pod, phase: pick(['Failed', 'Succeeded'] as const) });
          break;
        case 8:
          if (pod) setPod(name!, { ...pod, deleting: true });
          break;
        case 9:
          if (!pod) break;
          objects.pods.delete(name!);
          core.removePod(name!);
          log.push(`removed ${name}`);
          break;
        case 10: {
          const group = pick(names);
          const options: PodGroupOptions = { name: group, minMember: pick([1, 2, 3]), uid: `x-${group}`, createdAt: 0 };
          objects.groups.set(group, options);
          core.group(options);
          log.push(JSON.stringify(options));
          break;
        }
        case 11: {
          const group = pick(names);
          if (!objects.groups.delete(group)) break;
          core.removeGroup(`default/${group}`);
          log.push(`removed group ${group}`);
          break;
        }
        case 12: {
          const group = pick(names);
          const before = objects.natives.get(group);
          if (before !== undefined && maybe(0.3)) {
            objects.natives.delete(group);
            core.removeGroup(`scheduling.k8s.io/default/${group}`);
            log.push(`removed native ${group}`);
            break;
          }
          const options: NativePodGroupOptions = {
            name: group,
            uid: before === undefined || maybe(0.2) ? `native-${group}-${step}` : before.uid!,
            createdAt: 0,
            ...(maybe(0.7) && { minCount: pick([1, 2, 3]) }),
            ...(maybe(0.1) && { topologyKey: 'rack' }),
            ...(maybe(0.2) && { priority: 7 }),
          };
          objects.natives.set(group, options);
          core.nativeGroup(options);
          log.push(`native ${JSON.stringify(options)}`);
          break;
        }
        case 13: {
          const node = pick(nodeNames);
          if (objects.nodes.delete(node)) core.removeNode(node);
          else {
            objects.nodes.set(node, { name: node });
            core.node({ name: node });
          }
          log.push(`node ${node}`);
        }
      }
      const fresh = objects.restarted();
      const now = core.harness.cluster;
      const wanted = objects.misfits();
      const skipped = new Set<string>();
      const keys = (from: Queueing): string[] => [...from.harness.cluster.gangs()].map(({ key }) => key).sort();
      const where = `seed ${seed} step ${step}:\n${log.join('\n')}`;
      expect(keys(core), where).toEqual(keys(fresh));
      for (const gang of now.gangs()) {
        const other = fresh.harness.cluster.gang(gang.key)!;
        const expected = [...(wanted.get(gang.key) ?? [])].sort();
        const { size, first } = gang.misfits;
        const found = [...gang.members.keys()].map((uid) => [uid, gang.misfits.get(uid)?.kind]).sort();
        expect([gang.key, found.filter(([, kind]) => kind !== undefined)], where).toEqual([gang.key, expected]);
        expect([size, first?.uid], where).toEqual([expected.length, expected[0]?.[0]]);
        expect([gang.key, gang.isHeldBack], where).toEqual([gang.key, other.isHeldBack]);
        if (gang.spec?.minMember === 0) expect([gang.started, gang.missing], where).toEqual([true, 0]);
        // Only what was seen happen tells whether a group has started.
        if (gang.started !== other.started) {
          different++;
          skipped.add(gang.key);
        } else expect([gang.key, gang.counted, gang.missing], where).toEqual([gang.key, other.counted, other.missing]);
      }
      expect(describe(core, skipped), where).toEqual(describe(fresh, skipped));
      compared++;
    }
  }
  expect(different).toBeLessThan(compared / 10);
  expect(compared).toBe(runs(100) * 60);
});
