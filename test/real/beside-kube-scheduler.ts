import { deferred } from '../../src/base/deferred.ts';
import { describePods, expectBound, expectNeverBound, nodeOf } from '../expect/expect-bound.ts';
import { expectPhase } from '../expect/expect-phase.ts';
import { carries, expectVerdict } from '../expect/expect-verdict.ts';
import type { WatchedPod } from '../expect/watched.ts';
import type { ApiProxy } from '../planes/api-proxy.ts';
import type { RealPlane } from '../planes/real/real-plane.ts';
import type { PodSpec } from '../scenarios/pod-manifest.ts';
import { atOnce } from './at-once.ts';
import { onStage } from './on-stage.ts';
import type { OnStageOptions, Setting } from './on-stage.ts';
import { report } from './report.ts';
import { hangsMs } from '../planes/patience.ts';

const peer = 'default-scheduler';
const gangSize = 6;

/** Both schedulers work at the same time, with capacity for all pods: neither blocks the other, and no node is over-committed. */
export function besideWithCapacity(plane: RealPlane): Promise<void> {
  return withBoth(plane, async (setting) => {
    const { stage, addNodes } = setting;
    await addNodes(...nodesOf(20, '16'));
    const { members, others } = await loadBoth(setting, { gangs: 20, others: 120 });
    await expectBound(stage.record, [...members, ...others]);
  });
}

/**
 * Both schedulers work with capacity for two thirds of their pods. Nodes reject what does not fit, as kubelets do. Two schedulers that do
 * not see each other's choices in time cause occasional rejections, which nothing in the API prevents. Tutti does not send a queued Binding
 * whose capacity the other has taken by then. So of every group, all members that were not rejected are bound, or none, or there is no
 * capacity for the rest.
 */
export function besideWithoutCapacity(plane: RealPlane): Promise<void> {
  return withBoth(
    plane,
    async (setting) => {
      const { stage } = setting;
      const { current } = stage.record.pods;
      await addRejectingNodes(setting, nodesOf(20, '4'));
      const { members, others } = await loadBoth(setting, { gangs: 10, others: 60 });
      const stays = (key: string): boolean => nodeOf(stage.record, key) !== undefined && !isFailed(current.get(key));
      await stage.record.until('the nodes are full but for less than a gang', hangsMs, () => {
        const used = [...members, ...others].filter(stays).length;
        return used > 80 - gangSize ? undefined : `${used} of 80 slots are used`;
      });
      // Scheduling continues: members of a partially bound group may be bound, or rejected by their node, in the meantime.
      const partiallyBound = (): { readonly isReady: boolean; readonly waiting: readonly string[] }[] =>
        range(10).flatMap((gang) => {
          const left = members
            .slice(gang * gangSize, (gang + 1) * gangSize)
            .filter((key) => !isFailed(current.get(key)));
          const waiting = left.filter((key) => !stays(key));
          const isInPart = waiting.length > 0 && waiting.length < left.length;
          return isInPart ? [{ isReady: left.length === gangSize, waiting }] : [];
        });
      await stage.record.until('all waiting members of partially bound groups have a reason', hangsMs, () => {
        const free = 80 - [...members, ...others].filter(stays).length;
        const unexplained = partiallyBound().flatMap(({ isReady, waiting }) => {
          const reason = isReady ? 'Unschedulable' : 'WaitingForGang';
          const hasReason = waiting.every((key) => carries(stage.record, key, { reason }));
          return hasReason && !(isReady && waiting.length <= free) ? [] : waiting;
        });
        return unexplained.length === 0
          ? undefined
          : `${free} slots are free; ${describePods(stage.record, unexplained)}`;
      });
      report(`kube-scheduler took the capacity of ${partiallyBound().length} groups while they were being bound`);
      const rejected = (keys: readonly string[]): number => keys.filter((key) => isFailed(current.get(key))).length;
      report(`rejected by full nodes: ${rejected(members)} pods of Tutti's, ${rejected(others)} of kube-scheduler's`);
    },
    // The groups that `partiallyBound` has found wait for capacity.
    { tolerates: /over-committed|rejected|ends with \d of 6 members bound/ },
  );
}

/**
 * Tutti's cache is outdated: its watch of pods is delayed while the other scheduler takes the capacity of one member. The node rejects the
 * member, the group's status shows it, and the replacement that its owner creates completes the group once there is capacity.
 */
export function rejectedMember(plane: RealPlane): Promise<void> {
  let heldUp = Promise.resolve();
  const throughHeldUpWatch = async ({ stage }: Setting): Promise<ApiProxy> => {
    const proxy = await stage.openProxy();
    proxy.fault = async ({ path, connection }, forward) => {
      if (connection !== 'watch' || !path.startsWith('/api/v1/pods?')) return undefined;
      const answer = await forward();
      return { ...answer, body: delayed(answer.body, () => heldUp) };
    };
    return proxy;
  };
  return withBoth(
    plane,
    async (setting) => {
      const { stage } = setting;
      const { record } = stage;
      const [scarce] = await addRejectingNodes(setting, [{ name: 'scarce', allocatable: { cpu: '1' } }]);
      await addRejectingNodes(setting, [{ name: 'spare', allocatable: { cpu: '1' } }]);
      const gang = await stage.createPods('gang', 2, { group: 'gang', cpu: 1 });
      await expectVerdict(record, gang, { reason: 'WaitingForGang' });

      const release = deferred();
      heldUp = release.promise;
      const nodeSelector = { 'kubernetes.io/hostname': scarce! };
      const rival = await stage.createPod('rival', { cpu: 1, schedulerName: peer, nodeSelector });
      await record.until('the rival runs', hangsMs, () =>
        record.pods.current.get(rival)?.status?.phase === 'Running' ? undefined : describePods(record, [rival]),
      );
      const group = await stage.createGroup('gang', { minMember: 2 });
      await record.until('a member is rejected', hangsMs, () =>
        gang.some((key) => isFailed(record.pods.current.get(key))) ? undefined : describePods(record, gang),
      );
      release.resolve();
      await expectPhase(record, group, 'Failed', { failed: 1, running: 1 });

      const replacement = await stage.createPod('gang-again', { group: 'gang', cpu: 1 });
      await expectVerdict(record, [replacement], { reason: 'Unschedulable', says: ['Insufficient cpu'] });
      expectNeverBound(record, [replacement]);
      await stage.deletePod(rival);
      await expectBound(record, [replacement]);
      await expectPhase(record, group, 'Running', { running: 2 });
    },
    { tolerates: /over-committed|rejected/, openWay: throughHeldUpWatch },
  );
}

async function* delayed(body: AsyncIterable<Uint8Array>, until: () => Promise<void>): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    await until();
    yield piece;
  }
}

interface BothOptions extends OnStageOptions {
  /** Opens the proxy through which Tutti's scheduler reaches the server. */
  readonly openWay?: (setting: Setting) => Promise<ApiProxy>;
}

/** Runs `act` with kube-scheduler and Tutti's two processes. */
function withBoth(
  plane: RealPlane,
  act: (setting: Setting) => Promise<void>,
  { openWay, ...options }: BothOptions = {},
): Promise<void> {
  return onStage(
    plane,
    async (setting) => {
      const through = await openWay?.(setting);
      await plane.startPeer('kube-scheduler', { schedulerName: peer, qps: 5_000, burst: 10_000 });
      try {
        await Promise.all([
          setting.tutti.startScheduler({ ...(through && { through }) }),
          setting.tutti.startController(),
        ]);
        await act(setting);
      } finally {
        await plane.stopPeer('kube-scheduler');
      }
    },
    options,
  );
}

/** Creates members of gangs for Tutti and single pods for the other scheduler alternately. */
async function loadBoth(
  { stage }: Setting,
  counts: { readonly gangs: number; readonly others: number },
): Promise<{ members: string[]; others: string[] }> {
  const groups = Array.from({ length: counts.gangs }, (_, index) => `gang-${index}`);
  await atOnce(groups, (group) => stage.createGroup(group, { minMember: gangSize }));
  const members = groups.flatMap((group) => range(gangSize).map((index) => ({ name: `${group}-${index}`, group })));
  const others = range(counts.others).map((index) => ({ name: `other-${index}`, schedulerName: peer }));
  const pods: (PodSpec & { readonly name: string })[] = [];
  for (let index = 0; index < Math.max(members.length, others.length); index++) {
    pods.push(...[members[index], others[index]].filter((pod) => pod !== undefined));
  }
  await atOnce(pods, ({ name, ...spec }) => stage.createPod(name, { cpu: 1, ...spec }));
  const keyOf = ({ name }: { readonly name: string }): string => `${stage.namespace}/${name}`;
  return { members: members.map(keyOf), others: others.map(keyOf) };
}

function nodesOf(count: number, cpu: string): { readonly name: string; readonly allocatable: { cpu: string } }[] {
  return range(count).map((index) => ({ name: `shared-${index}`, allocatable: { cpu } }));
}

/** Adds simulated kubelets, which reject what does not fit. */
async function addRejectingNodes({ stage }: Setting, specs: ReturnType<typeof nodesOf>): Promise<string[]> {
  const names = await stage.addSimulatedNodes(...specs);
  // No other component of this plane removes the taint of new nodes.
  for (const name of names) await stage.client.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints: null } });
  return names;
}

function isFailed(pod: WatchedPod | undefined): boolean {
  return pod?.status?.phase === 'Failed';
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
